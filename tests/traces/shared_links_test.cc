// Every real file of ../shared/data/links, none left out: read with the right unit, so that its
// figures are those of MANIFEST.md (or, where it gives none, of an independent sum over the file's
// columns), or refused for the reason that stands here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/traces/shared_links.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What a file must give. Rates in Mbit/s; a figure that is not listed is -1.
struct Expected {
  const char* file;
  const char* sha256;       // as far as the manifest has it
  const char* reader;       // found without being named
  const char* rate_column;  // "" where the file has one rate
  std::size_t num_traces;
  std::int64_t num_rows;     // of the file, those that were skipped included
  double peak, mean;         // to the last digit written here
  double zero_s;             // time at rate 0, to a tenth
  const char* refusal = "";  // instead of all behind `reader`
};

// The readers' own tests say what rows, skipped ones and units mean; mahimahi and two-column files
// have more figures in shared_figures_test.cc.
const std::vector<Expected>& table() {
  static const std::vector<Expected> kTable{
      {"mahimahi/ATT-LTE-driving-2016.down", "24a40538340de991", "mahimahi", "", 1, 45604, 348,
       4.56, -1},
      {"mahimahi/ATT-LTE-driving-2016.up", "ebb3d53674b77be4", "mahimahi", "", 1, 19101, -1, 1.91,
       -1},
      {"mahimahi/Verizon-LTE-short.down", "c918436fbd6246af", "mahimahi", "", 1, 58655, -1, 5.03,
       -1},
      {"mahimahi/Verizon-LTE-short.up", "f6cd9049f58d70f1", "mahimahi", "", 1, 69367, 516, 5.95,
       -1},
      {"mahimahi/TMobile-LTE-short.down", "4f33dce8dd811b57", "mahimahi", "", 1, 194846, -1, 16.7,
       -1},
      {"pensieve/norway_bus_1", "a1e3ee6a1dfc35a3", "two-column", "", 1, 266, -1, -1, 0},
      {"pensieve/fcc_trace_10009.txt", "8b53d0ba390291b9", "two-column", "", 1, 261, -1, -1, 0},
      {"pensieve/oboe_trace_0.txt", "106bdbbafe22d661", "two-column", "", 1, 49, -1, -1, 0},
      {"pensieve/puffer_211017_a.txt", "5be216679d4ed944", "two-column", "", 1, 205, 36.5, -1, 0},
      {"pensieve/norway_car_12_part3.log", "88fb40bbf1b4dcc5", "two-column", "", 1, 45, -1, -1, 0},
      {"sabre/4G_bus_0001.json", "00f96244f464bb9e", "sabre", "", 1, 607, 55.99, -1, 0},
      {"sabre/4G_foot_0006.json", "5997ec441c4002ad", "sabre", "", 1, 585, 88.6, -1, 21.1},
      {"sabre/3G_2010-09-13_1003CEST.json", "f0b68ae8ae8c5bb1", "sabre", "", 1, 192, 2.3, -1, 0},
      {"sabre/hd_fs_trace0004.json", "965013c588bc8671", "sabre", "", 1, 36, 29.045, 16.64, 0},
      {"spark/hairpin_wifi_13.log", "1d003ecbf6063a63", "spark", "", 1, 1806, 28.08, 3.207, 0},
      {"spark/hairpin_eth_8.log", "3c7fb23de92a7c03", "spark", "", 1, 3570, 24.34, 12.19, 0},
      {"spark/pitree_ghent_2.log", "70e56ef68dd17533", "two-column", "", 1, 531, -1, -1, 0},
      {"spark/pitree_lab_7.log", "e4c019c9d45c6dc0", "two-column", "", 1, 456, -1, -1, 0},
      {"spark/zhuge_office_wifi_1.log", "ef5cab0791841fc5", "two-column", "", 1, 1476, -1, -1, 0},
      {"spark/zhuge_4g_15.log", "4a618f7b14dcfb3d", "two-column", "", 1, 1410, 136.8, -1, 0},
      {"raca5g/download_driving_2020.02.14_09.38.22.csv", "4a240d0a5ede58f7", "raca", "DL_bitrate",
       1, 1646, 484.6, 33.88, 42.2},
      {"raca5g/download_static_2020.02.14_13.21.26.csv", "b8c494344734ff2d", "raca", "DL_bitrate",
       1, 1013, 254, 127.1, 36},
      {"raca5g/download_driving_2019.12.16_12.27.05.csv", "b9630343e600f7bb", "raca", "DL_bitrate",
       1, 1338, 353.4, 26, 53.5},
      {"5gophers/throughput_all_carriers.csv", "", "5gophers", "", 120, 7257, 2060.9, 422.7, 35},
      {"5gophers/car_driving_1.csv", "", "5gophers", "", 3, 360, 1663.7, 222.2, 18},
      {"5gophers/rtt_all_carriers.csv", "", "5gophers", "", 0, -1, -1, -1, -1,
       "round-trip times without rates or seconds are no link trace"},
      {"lumos5g/5g_trace_44_walking.txt", "ffb697f2bfa4cc6a", "two-column", "", 1, 799, 1700, 538.6,
       19},
      {"lumos5g/5g_trace_54_walking.txt", "b96bd41e39fb59c5", "two-column", "", 1, 799, 1860, 906,
       49},
      {"lumos5g/5g_trace_80_driving.txt", "100f38d9186a9b2f", "two-column", "", 1, 181, 880, 275,
       0},
      {"lumos5g/5g_trace_22_driving.txt", "01c27be48bcba860", "two-column", "", 1, 250, 140, 66.5,
       6},
      {"lumos5g/4g_trace_walking_50052_a.txt", "a5735202077ed062", "two-column", "", 1, 800, 224,
       -1, 33},
      {"nyu_mets/7Train1.csv", "0530c6e75b33a190", "nyu-mets", "", 1, 4910, 31.4, -1, 0},
      {"nyu_mets/QTrain.csv", "c5f279758890b91e", "nyu-mets", "", 1, 2404, 28.4, -1, 101},
      {"starlink/autobahn_throughput_rows1-1500.csv", "a61e29930dfe372f", "starlink", "download", 1,
       1500, 446, 224, 4},
      {"wan/skyplane_gcp_intracloud_throughput.csv", "", "", "", 0, -1, -1, -1, -1,
       "a matrix of one rate per pair of regions has no times, so it is no link trace"},
  };
  return kTable;
}

// Half a unit of the last digit of `figure` as it is written, of four digits at most.
double half_a_digit(double figure) {
  double unit = 1;
  while (unit > 0.002 && std::abs(figure / unit - std::round(figure / unit)) > 1e-6) unit /= 10;
  return unit / 2;
}

// Nothing when `figure` is not listed.
void expect_figure(double actual, double figure) {
  if (figure < 0) return;
  EXPECT_NEAR(actual, figure, half_a_digit(figure) * 1.01);
}

class SharedLinks : public testing::SharedLinksFixture {};

TEST_F(SharedLinks, EveryFileOfTheFolderIsInTheTable) {
  std::set<std::string> known;
  for (const Expected& e : table()) EXPECT_TRUE(known.insert(e.file).second) << e.file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testing::shared_links())) {
    if (!entry.is_regular_file()) continue;
    const std::string file =
        std::filesystem::relative(entry.path(), testing::shared_links()).generic_string();
    EXPECT_EQ(known.erase(file), 1U) << file << " is in no row of the table";
  }
  for (const std::string& file : known) ADD_FAILURE() << file << " is in the table alone";
}

TEST_F(SharedLinks, EveryFileIsReadWithTheFiguresOfTheManifestOrRefusedWithItsReason) {
  for (const Expected& e : table()) {
    SCOPED_TRACE(e.file);
    ReadOptions options;
    if (*e.rate_column != '\0') {
      EXPECT_THAT(read_traces(testing::shared_links() / e.file).error().to_line(),
                  HasSubstr(std::string("choose with --rate-column ") + e.rate_column));
      options.rate_column = e.rate_column;
    }
    if (*e.refusal != '\0') {
      const auto refused = read_traces(testing::shared_links() / e.file, options);
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(refused.error().to_line(), HasSubstr(e.refusal));
      continue;
    }
    const std::vector<LinkTrace> traces = read_all(e.file, options);
    EXPECT_EQ(traces.size(), e.num_traces);
    std::int64_t num_rows = 0;
    DataRate peak;
    TransferSum sum;
    Duration length{}, zero{};
    for (const LinkTrace& trace : traces) {
      EXPECT_EQ(trace.reader, e.reader);
      EXPECT_EQ(doubt_about_unit(trace).value_or(""), "");
      num_rows += trace.num_rows + trace.num_skipped;
      const TraceSummary s = summarise(trace);
      peak = std::max(peak, s.max);
      sum.add(s.mean, s.length);
      length += s.length;
      zero += s.outage;
    }
    if (traces.size() == 1) {
      EXPECT_THAT(traces.front().sha256, StartsWith(e.sha256));
    }
    EXPECT_EQ(num_rows, e.num_rows);
    expect_figure(peak.megabits_per_sec(), e.peak);
    expect_figure(sum.mean_over(length).megabits_per_sec(), e.mean);
    if (e.zero_s >= 0) {
      EXPECT_NEAR(to_seconds(zero), e.zero_s, 0.06);
    }
  }
}

// network-facts: one connection against eight, Verizon: mean 248 against 1091 Mbit/s, max 545
// against 2061.
TEST_F(SharedLinks, ConnectionsMakeTheDifferenceThatThePaperFound) {
  for (const auto& [connections, mean, max] :
       {std::tuple{"1", 248.0, 545.0}, std::tuple{"8", 1091.0, 2061.0}}) {
    TransferSum sum;
    Duration length{};
    DataRate peak;
    for (const LinkTrace& trace : read_all("5gophers/throughput_all_carriers.csv")) {
      if (trace.name.find("/VERIZON/") == std::string::npos ||
          trace.name.find(std::string("/") + connections + "/") == std::string::npos) {
        continue;
      }
      const TraceSummary s = summarise(trace);
      sum.add(s.mean, s.length);
      length += s.length;
      peak = std::max(peak, s.max);
    }
    EXPECT_NEAR(sum.mean_over(length).megabits_per_sec(), mean, 0.5) << connections;
    EXPECT_NEAR(peak.megabits_per_sec(), max, 0.5) << connections;
  }
}

TEST_F(SharedLinks, LatenciesOfSabreAreRoundTrips) {
  for (const auto& [file, one_way] : {std::pair{"sabre/4G_bus_0001.json", 10ms},
                                      std::pair{"sabre/3G_2010-09-13_1003CEST.json", 50ms}}) {
    const LinkTrace trace = read(file);
    ASSERT_TRUE(trace.delay.has_value()) << file;
    EXPECT_EQ(summarise(*trace.delay).min, one_way) << file;
    EXPECT_EQ(summarise(*trace.delay).max, one_way) << file;
  }
}

TEST_F(SharedLinks, ACloudGamingSessionHasDelayAndLoss) {
  const LinkTrace wifi = read("spark/hairpin_wifi_13.log");  // RTT 10-79.9 ms, loss 0-0.8
  ASSERT_TRUE(wifi.delay && wifi.loss);
  EXPECT_EQ(summarise(*wifi.delay).min, 5ms);
  EXPECT_EQ(summarise(*wifi.delay).max, 39'950us);
  EXPECT_EQ(summarise(*wifi.loss).max_ppm, 800'000);
  EXPECT_EQ(summarise(wifi).min.bits_per_sec(), 2'500'000);
  EXPECT_EQ(summarise(*read("spark/hairpin_eth_8.log").loss).max_ppm, 0);
}

TEST_F(SharedLinks, PingsOfADriveAreItsDelayAndDoubledSecondsLoseNoRow) {
  ReadOptions options;
  options.rate_column = "DL_bitrate";
  const LinkTrace trace = read("raca5g/download_driving_2020.02.14_09.38.22.csv", options);
  EXPECT_EQ(trace.num_rows, 1646);
  EXPECT_EQ(trace.length, 1719s);  // last stamp minus first, and the first row's second
  ASSERT_TRUE(trace.delay.has_value());
  EXPECT_EQ(summarise(*trace.delay).min, 33ms);  // the smallest PINGAVG is 66.0
}

TEST_F(SharedLinks, GapsOfTheAutobahnAreLeftOutInBothDirections) {
  for (const auto& [column, peak] : {std::pair{"download", 446.4}, std::pair{"upload", 55.97}}) {
    ReadOptions options;
    options.rate_column = column;
    const LinkTrace trace = read("starlink/autobahn_throughput_rows1-1500.csv", options);
    EXPECT_NEAR(to_seconds(trace.length), 1500, 0.1) << column;
    EXPECT_NEAR(summarise(trace).max.megabits_per_sec(), peak, 0.05) << column;
    ASSERT_EQ(trace.notes.size(), 1U);
    EXPECT_THAT(trace.notes.front(), StartsWith("25 gaps without a measurement, 10"));
  }
}

}  // namespace
}  // namespace sluice
