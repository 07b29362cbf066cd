/** How a timeline's page looks; colours have a contrast of 4.5 and more against both grounds. */
export const TIMELINE_STYLE = `
:root{color-scheme:light dark;--ground:#fff;--band:#f4f6f9;--text:#1b2430;--faint:#566273;--line:#d9dfe7;
--node:#2f66b3;--model:#7444b8;--tool:#0f766e;--agent:#a04f00;--failed:#c3272b;--waiting:#8a5a00;--still:#66707f;--said:#14713d;--thought:#0b6f8a}
@media(prefers-color-scheme:dark){:root{--ground:#12161d;--band:#1a202a;--text:#e7ebf1;--faint:#a3aebd;--line:#2d3644;
--node:#79a9f2;--model:#bd9bf5;--tool:#4fc7ba;--agent:#f2a65a;--failed:#ff7b7b;--waiting:#e2b93b;--still:#9aa5b5;--said:#5fd08f;--thought:#63c8e6}}
*{box-sizing:border-box}
body{font:14px/1.45 system-ui,sans-serif;margin:0;padding:1.5rem 2rem 3rem;background:var(--ground);color:var(--text)}
h1{font-size:1.25rem;margin:0 .6rem 0 0;display:inline;overflow-wrap:anywhere}h2{font-size:1rem;margin:0;display:inline}
.status{display:inline-block;padding:.05rem .6rem;border-radius:1rem;border:1px solid currentColor;font-weight:600;color:var(--faint)}
.status.succeeded{color:var(--said)}.status.failed{color:var(--failed)}.status.running,.status.waiting{color:var(--waiting)}
.facts{margin:.5rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;color:var(--faint);list-style:none}
.facts b{color:var(--text);font-weight:600}.error{color:var(--failed);margin:.5rem 0 0;overflow-wrap:anywhere}
.zoom{display:inline-block;margin:1rem 0 0;color:var(--faint)}label{font-size:13px}input[name=zoom]{margin:0 .25rem 0 .9rem;vertical-align:-1px}
.chart{--zoom:1;--z4:none;--z16:none;container-type:inline-size;overflow:auto;max-height:82vh;border:1px solid var(--line);border-radius:6px;margin:.6rem 0}
#zoom4:checked~.chart{--zoom:4;--z4:inline}#zoom16:checked~.chart{--zoom:16;--z4:inline;--z16:inline}
.row{display:grid;grid-template-columns:min(18rem,34cqw) calc((100cqw - min(18rem,34cqw) - min(11rem,22cqw) - 2px)*var(--zoom)) min(11rem,22cqw);align-items:stretch;width:max-content}
.row>*{background:var(--ground)}.row:nth-child(even)>*{background:var(--band)}.row:hover>*{background:color-mix(in srgb,var(--node) 14%,var(--ground))}
.name,.note{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:.2rem .6rem;position:sticky;z-index:1}
.name{left:0;border-right:1px solid var(--line)}.note{right:0;color:var(--faint);font-size:12px;border-left:1px solid var(--line);font-variant-numeric:tabular-nums}
.note .error{margin:0}.name small{color:var(--faint);margin-left:.5em}
.axis{position:sticky;top:0;z-index:2}.axis>*{border-bottom:1px solid var(--line)}.axis .name{z-index:3}
.axis text{font-size:11px;fill:var(--faint);font-variant-numeric:tabular-nums}
.model .name b,.tool .name b,.agent .name b{font-size:11px;font-weight:600;margin-right:.45em}
.model .name b{color:var(--model)}.tool .name b{color:var(--tool)}.agent .name b{color:var(--agent)}
${Array.from({ length: 12 }, (_, at) => `.d${at + 1}{padding-left:${(at + 1) * 1.1 + 0.6}rem}`).join('')}
svg{display:block;width:100%;overflow:visible}.track{overflow:hidden}
.grid line{stroke:var(--line)}.z4{display:var(--z4)}.z16{display:var(--z16)}
.bar{fill:var(--node);stroke:var(--node);fill-opacity:.8}
.model .bar{fill:var(--model);stroke:var(--model)}.tool .bar{fill:var(--tool);stroke:var(--tool)}.agent .bar{fill:var(--agent);stroke:var(--agent)}
.track .failed,.key .failed{fill-opacity:1;fill:var(--failed);stroke:var(--failed)}
.track .retried,.key .retried{fill:var(--failed);fill-opacity:.35;stroke:var(--failed)}
.track .waiting,.key .waiting{fill:var(--ground);stroke:var(--waiting);stroke-dasharray:5 3}
.track .open,.key .open{fill-opacity:.35;stroke-dasharray:5 3}
.track .stopped,.key .stopped{fill:var(--ground);stroke:var(--still);stroke-dasharray:2 3}
.track .skipped,.key .skipped{fill:var(--still);stroke:var(--still)}
a:hover .bar,a:focus-visible .bar{stroke:var(--text)}a{outline:0}
.mark{overflow:visible;width:1px;height:1px}.mark path{fill:var(--faint)}.mark.text path,.mark.message_end path{fill:var(--said)}.mark.thinking path{fill:var(--thought)}.mark.usage path{fill:var(--model)}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;margin:.6rem 0 1.6rem;padding:0;list-style:none;color:var(--faint);font-size:12px}
.key svg{display:inline-block;width:22px;height:14px;vertical-align:-3px;margin-right:.35rem}
details{margin-top:1rem}summary{cursor:pointer}.wide{overflow:auto;margin-top:.5rem}
table{border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums}
td,th{text-align:left;padding:.2rem 1rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere;min-width:14rem}th{color:var(--faint);font-weight:600}.number{text-align:right}
tr:target td{background:color-mix(in srgb,var(--waiting) 25%,var(--ground))}
@media print{.chart{max-height:none;overflow:visible}}
`;
