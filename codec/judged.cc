#include "codec/judged.h"

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {
namespace {

constexpr double kMaxKl = 1e6;
constexpr double kMaxPercent = 1e300;  // perplexity of a ruined cache knows no bounds
constexpr std::int64_t kMaxDocuments = 1'000'000'000;
constexpr double kMaxGreedyTokens = 1e6;

JudgedMean read_mean(JsonReader& in, const std::string& key, JsonRange<double> range) {
  const JudgedMean read{.mean = in.number(key, range),
                        .low = in.number(key + "_low", range),
                        .high = in.number(key + "_high", range)};
  if (read.low > read.high) in.fail(key + "_low", "is above the interval's end", "swap them");
  return read;
}

JudgedContinuation read_continuation(JsonReader in) {
  JudgedContinuation read;
  read.documents = in.integer("documents", {1, kMaxDocuments});
  read.delta_ppl_percent = read_mean(in, "delta_ppl_percent", {-100, kMaxPercent});
  read.kl = read_mean(in, "kl_mean", {0, kMaxKl});
  read.kl_p99 = in.number("kl_p99", {0, kMaxKl});
  read.kl_max = in.number("kl_max", {0, kMaxKl});
  read.top1 = read_mean(in, "top1", {0, 1});
  read.greedy_match = in.number("greedy_match", {0, kMaxGreedyTokens});
  read.attention_error = in.number("attention_error", {0, kMaxKl});
  if (read.kl_p99 > read.kl_max) in.fail("kl_p99", "is above `kl_max`", "judge again");
  return read;
}

void put_mean(nlohmann::ordered_json& json, const std::string& key, const JudgedMean& mean) {
  json[key] = mean.mean;
  json[key + "_low"] = mean.low;
  json[key + "_high"] = mean.high;
}

nlohmann::ordered_json continuation_json(const JudgedContinuation& judged) {
  nlohmann::ordered_json json{{"documents", judged.documents}};
  put_mean(json, "delta_ppl_percent", judged.delta_ppl_percent);
  put_mean(json, "kl_mean", judged.kl);
  json["kl_p99"] = judged.kl_p99;
  json["kl_max"] = judged.kl_max;
  put_mean(json, "top1", judged.top1);
  json["greedy_match"] = judged.greedy_match;
  json["attention_error"] = judged.attention_error;
  return json;
}

}  // namespace

Judged read_judged(JsonReader in) {
  return {.same_document = read_continuation(in.object("same-document")),
          .unrelated_question = read_continuation(in.object("unrelated-question")),
          .repeat = read_continuation(in.object("repeat"))};
}

nlohmann::ordered_json to_json(const Judged& judged) {
  return {{"same-document", continuation_json(judged.same_document)},
          {"unrelated-question", continuation_json(judged.unrelated_question)},
          {"repeat", continuation_json(judged.repeat)}};
}

}  // namespace sluice
