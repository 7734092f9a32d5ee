#include "tests/traces/reader_inputs.h"

#include <fstream>

#include "tests/traces/mutate.h"

namespace sluice::testing {
namespace {

// A line from somewhere once more at the end, as files grow.
void repeat_a_line(std::string& text, RandomStream& random) {
  const std::size_t begin = text.rfind('\n', random.below(text.size() + 1));
  const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
  const std::string line = text.substr(from, text.find('\n', from) - from);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line + '\n';
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  // A new file each time: some file systems flush to disk when one is overwritten.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

const std::vector<ReaderInput>& reader_inputs() {
  static const std::vector<ReaderInput> kInputs{
      {"mahimahi", "0\n0\n3\n7\n7\n7\n12\n20\n21\n"},
      {"mahimahi", "1\r\n2\r\n1000\r\n"},
      {"two-column", "0.0\t4.037\n0.55\t4.79\n0.88\t0\n1.35\t4.33e1\n"},
      {"two-column", "119.44 2.5\r\n119.94 2.7\r\n128.25 3.0\r\n"},
      {"sabre",
       "[\n {\"duration_ms\": 725, \"bandwidth_kbps\": 36014, \"latency_ms\": 20},\n"
       " {\"duration_ms\": 0, \"bandwidth_kbps\": 0, \"latency_ms\": 5.5},\n"
       " {\"duration_ms\": 1e3, \"bandwidth_kbps\": 33.5, \"latency_ms\": 25}\n]\n"},
      {"cachegen", "{\"bw\": [0.1, 4.25, 1e1, 7]}\n{\"bw\": [3, 0]}\n"},
      {"csv", "time_s,rate_mbps\n0,5\n1.5,7e0\n3,0\n4,\n"},
      {"csv", "\"time [ms]\",note,rate (kB/s)\n0,\"a, b\",5\n10,,6\n"},
      {"raca",
       "Timestamp,Speed,DL_bitrate,UL_bitrate,PINGAVG\n2020.02.14_09.38.22,2,0,5,-\n"
       "2020.02.14_09.38.22,2,77,5,66.0\n2020.02.14_09.38.25,0,-,-,-\n"
       "2020.02.14_09.39.25,0,900,1,67.5\n",
       "log.csv", "DL_bitrate"},
      {"5gophers",
       "protocol,carrier,num_tcp_conn,server_location,run_num,seq_num,throughput_mbps\n"
       "TCP,SPRINT,1,US-East,1,0,0.93\nTCP,SPRINT,1,US-East,1,1,1.95\nTCP,SPRINT,8,US-East,1,0,7\n"
       "TCP,SPRINT,1,US-East,1,4,0\n",
       "all.csv"},
      {"5gophers",
       "protocol,num_tcp_conn,seq_num,A_throughput_mbps,B_throughput_mbps\nTCP,8,0,25.7,145.7\n"
       "TCP,8,1,65,0\n",
       "car.csv"},
      {"lumos5g-raw",
       "run_num,seq_num,Throughput,mobility_mode,trajectory_direction,tower_id\n"
       "1,1,100,walking,CW,5\n1,2,200,walking,CW,5\n1,1,7,walking,ACW,5\n",
       "lumos.csv"},
      {"nyu-mets", "13.9,Mbits/sec\r\n0,Kbits/sec\r\n1.5,Gbits/sec\r\n", "Q.csv"},
      {"spark", "0.000 12.48 29.9ms 0.00\n0.015 8.11 30.5ms 0.25\n0.030 8.11 20.0ms 1\n"},
      {"spark", "2401.2 54.98\n2401.4 57.61\n2401.6 62\n"},
      {"starlink",
       "timestamp_start_dl,timestamp_end_dl,download,upload\n"
       "2024-04-19 16:23:00.001039872,2024-04-19 16:23:01.001035008,17.5,1\n"
       "2024-04-19 16:23:01.001035008,2024-04-19 16:23:02.5,0,1\n"
       "2024-04-19 16:23:12,2024-04-19 16:23:13,44.5,1\n",
       "autobahn.csv", "download"},
      {"fcc-mba",
       "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,successes\n"
       "7,2022-01-01 00:10:00,a.com,x,2000000,2000000,1000000,1\n"
       "7,2022-01-01 00:10:05,b.com,x,1000000,250000,250000,1\n"
       "7,2022-01-01 06:10:00,a.com,x,500000,1000000,2000000,0\n",
       "w.csv"},
      {"fcc-mba",
       "7,2016-01-01 00:10:00,t,x,5000000,5,800000,1000000,0,0,0,3,1,0\n"
       "7,2016-01-01 00:10:00,t,x,10000000,5,900000,1200000,0,0,1,3,1,0\n",
       "curr_httpgetmt.csv"},
      {"hsdpa",
       "1289406399 549692 59.851754 10.781778 248069 1008\n"
       "1289406400 550772 59.851864 10.781833 0 1080\n"
       "1289406402 400000 59.851964 10.781901 280579 1001\n"},
      {"ghent",
       "1453121790686 39287 51.0386 3.7322 2493100 1000\n"
       "1453121791687 40288 51.0386 3.7322 0 0999\n"},
      {"puffer",
       "time (ns GMT),session_id,index,expt_id,channel,video_ts,format,size,min_rtt\n"
       "1573000000000000000,s,0,1,c,180180,f,250000,20000\n"
       "1573000001000000000,s,0,1,c,360360,f,1000000,20500\n"
       "1573000001000000000,t,0,1,c,180180,f,1000,900\n",
       "video_sent_day.csv",
       {},
       "video_acked_day.csv",
       "time (ns GMT),session_id,index,expt_id,channel,video_ts\n"
       "1573000000500000000,s,0,1,c,180180\n1573000001500000000,s,0,1,c,360360\n"
       "1573000001500000000,t,0,1,c,180180\n"},
      {"puffer",
       "time (ns GMT),session_id,index,expt_id,channel,video_ts\n"
       "1573000000500000000,s,0,1,c,180180\n1573000001500000000,s,0,1,c,360360\n",
       "video_acked_day.csv",
       {},
       "video_sent_day.csv",
       "time (ns GMT),session_id,index,expt_id,channel,video_ts,format,size,min_rtt\n"
       "1573000000000000000,s,0,1,c,180180,f,250000,20000\n"
       "1573000001000000000,s,0,1,c,360360,f,1000000,20500\n"},
      {"cellreplay", "0 20 0 1 2 3\n150 35 0 0 1\n300 20 0\n450 20 0 1\n"},
      {"cellreplay", "1\n1\n2\n9\n"},
  };
  return kInputs;
}

std::vector<ReaderInput> reader_inputs(const std::string& reader) {
  std::vector<ReaderInput> own;
  for (const ReaderInput& input : reader_inputs()) {
    if (input.reader == reader) own.push_back(input);
  }
  return own;
}

std::string mutate_trace(std::string text, RandomStream& random) {
  if (random.bernoulli(0.2)) repeat_a_line(text, random);
  return random.bernoulli(0.3) ? change_digits(std::move(text), random)
                               : mutate(std::move(text), random);
}

Result<std::vector<LinkTrace>> read_mutant(const ReaderInput& input, const std::string& text,
                                           const std::filesystem::path& folder,
                                           bool name_the_reader) {
  write_file(folder / input.name, text);
  if (!input.partner_name.empty()) write_file(folder / input.partner_name, input.partner_text);
  ReadOptions options;
  if (name_the_reader) options.reader = input.reader;
  if (name_the_reader && !input.rate_column.empty()) options.rate_column = input.rate_column;
  return read_traces(folder / input.name, options);
}

std::string complaint(const Result<std::vector<LinkTrace>>& outcome) {
  if (!outcome.ok()) {
    const Error& error = outcome.error();
    if (error.file.empty() || error.what.empty() || error.fix.empty())
      return "an incomplete error: " + error.to_line();
    if (error.to_line().size() > 1000)
      return "an error of " + std::to_string(error.to_line().size()) + " bytes";
    if (error.to_line().find('\n') != std::string::npos) return "an error of two lines";
    return {};
  }
  if (outcome->empty()) return "no trace and no error";
  for (const LinkTrace& trace : *outcome) {
    if (const Status sound = check_trace(trace); !sound)
      return "an unsound trace: " + sound.error().to_line();
    if (trace.num_rows < 1 || trace.sha256.size() != 64 || trace.name.empty() ||
        trace.unit.empty()) {
      return "an incomplete trace";
    }
  }
  return {};
}

}  // namespace sluice::testing
