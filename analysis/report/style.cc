#include "analysis/report/style.h"

#include "analysis/report/palette.h"

namespace sluice {
namespace {

// Colours by use. --k is set per policy or level by the palette.
constexpr const char* kLightTheme = R"css(
--paper:#fff;--ink:#1c1c1c;--soft:#595959;--rule:#d9d9d9;--grid:#ebebeb;--wash:#f6f6f4;--alarm:#b3001b;--busy:#8a8a8a;
)css";
constexpr const char* kDarkTheme = R"css(
--paper:#14161a;--ink:#e8e8e6;--soft:#a6a9ad;--rule:#3a3e45;--grid:#26292f;--wash:#1c1f24;--alarm:#ff7a85;--busy:#8b9097;
)css";

constexpr const char* kText = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:980px;margin:0 auto;padding:24px 20px 48px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.35rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}
h3{font-size:1.05rem;margin:2.2rem 0 .4rem;overflow-wrap:anywhere}
.tier{color:var(--soft);font-weight:400}
.block{border-top:1px solid var(--rule);margin-top:1.5rem;padding-top:1.5rem}
.question{font-style:italic;margin:.2rem 0 .8rem}
.verdict{max-width:44rem;overflow-wrap:anywhere}
.note{color:var(--alarm);margin:.3rem 0}
.caption,figcaption{color:var(--soft);font-size:.85rem;max-width:46rem;margin:.4rem 0 0}
nav ul{list-style:none;margin:.8rem 0 0;padding:0}
a{color:inherit}
code{font:.9em ui-monospace,"SFMono-Regular",Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
pre{background:var(--wash);padding:.5rem .7rem;margin:.25rem 0 .7rem;white-space:pre-wrap}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1rem;margin:1rem 0 0;font-size:.9rem}
dt{color:var(--soft);grid-column:1}
dd{margin:0;grid-column:2;overflow-wrap:anywhere}
footer{border-top:1px solid var(--rule);margin-top:2.5rem;font-size:.9rem}
footer ul{padding-left:1.2rem}
.commands{list-style:none;padding:0}
details{margin-top:.6rem;font-size:.9rem}
summary{cursor:pointer}
)css";

constexpr const char* kTables = R"css(
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.8rem;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.34rem .35rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--grid)}
thead th{border-bottom:1px solid var(--ink);font-weight:600;vertical-align:bottom}
th[scope=row],th[scope=rowgroup],.left{text-align:left}
th[scope=row],th[scope=rowgroup]{font-weight:600;overflow-wrap:break-word;min-width:8rem;max-width:14rem}
td{white-space:nowrap}
.unit{color:var(--soft);font-weight:400;font-size:.92em}
thead .unit,.below{display:block}
td.mix{text-align:left}
svg.mix{display:block;width:110px;height:10px;margin:.3rem 0 .15rem}
.words{display:block;color:var(--soft);font-size:.92em;line-height:1.3}
.reason{min-width:14rem;white-space:normal;overflow-wrap:anywhere}
.hashes td{white-space:normal}
.hashes code{word-break:break-all}
.decisions{margin-top:1rem}
.decisions tr.begins th,.decisions tr.begins td{border-top:1px solid var(--rule)}
.key{display:inline-block;width:.75em;height:.75em;margin-right:.45em;background:var(--k);flex:none}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;margin:.6rem 0 .4rem;padding:0;font-size:.82rem}
.legend li{display:flex;align-items:center}
.key.decode{background:var(--busy)}
.key.wait{height:0;border-top:1.5px solid var(--soft)}
.key.token{background:var(--ink);transform:rotate(45deg) scale(.8)}
)css";

constexpr const char* kCharts = R"css(
figure{margin:0}
svg.chart{display:block;width:100%;height:auto;margin:.5rem 0 0;overflow:visible;font-family:inherit}
svg.wide{max-width:940px}
svg.narrow{display:none;max-width:560px}
.chart text{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:5px;stroke-linejoin:round;font-size:12px;font-variant-numeric:tabular-nums}
.chart .tick,.chart .measure{fill:var(--soft);font-size:11px}
.chart .value{fill:var(--soft)}
.chart .panel-title{font-weight:600}
.chart .marker-label{fill:var(--alarm);font-size:11px}
.grid{stroke:var(--grid)}
.axis{stroke:var(--soft)}
.zero{stroke:var(--soft)}
.reference{stroke:var(--soft);stroke-dasharray:1 3}
.slo{stroke:var(--alarm);stroke-dasharray:4 3}
.band{fill:var(--wash);stroke:var(--grid)}
.whisker{stroke:var(--k);stroke-width:1.5}
.dot{fill:var(--k);stroke:var(--k);stroke-width:2}
.dot.hollow{fill:var(--paper)}
.curve{fill:none;stroke:var(--k);stroke-width:2}
.swatch,.transfer{fill:var(--k)}
.transfer{stroke:var(--soft);stroke-width:.5}
.decode{fill:var(--busy)}
.wait{stroke:var(--soft);stroke-width:1}
.token{fill:var(--ink)}
.rate{stroke:var(--soft);stroke-width:1.5}
.rate-area{fill:var(--grid)}
@media (max-width:700px){
main{padding:16px 12px 32px}
svg.wide{display:none}
svg.narrow{display:block}
dl{grid-template-columns:1fr;gap:0}
dt{margin-top:.4rem}
dd{grid-column:1}
th[scope=row]{position:sticky;left:0;background:var(--paper);min-width:7.5rem;max-width:9rem}
}
)css";

constexpr const char* kPaper = R"css(
@page{margin:14mm}
@media print{
main{max-width:none;padding:0}
body{font-size:10.5pt}
table{font-size:7pt}
th,td{padding:.2rem .25rem}
td.mix{min-width:7rem}
th[scope=row],th[scope=rowgroup]{min-width:5.5rem}
.reason{min-width:9rem}
.scroll{overflow:visible}
svg.wide{display:block}
svg.narrow{display:none}
figure svg,tr,pre,.legend{break-inside:avoid}
h2,h3,.legend{break-after:avoid}
.block+.block{break-before:page}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
)css";

std::string theme(const char* colours, Theme which) {
  return std::string(":root{") + colours + "}\n" + palette_rules(which);
}

}  // namespace

std::string style_sheet() {
  return theme(kLightTheme, Theme::kLight) + dash_rules() + kText + kTables + kCharts +
         "@media screen and (prefers-color-scheme:dark){\n" + theme(kDarkTheme, Theme::kDark) +
         "}\n" + kPaper;
}

}  // namespace sluice
