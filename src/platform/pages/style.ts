import { createHash } from 'node:crypto';

/** The style of public pages. It is in the page, so that a page is one request, and the policy names its hash. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ground:#f3f4f6;--ink:#1b1f24;--soft:#535b66;--line:#d5d9df;--accent:#0b57b0;--done:#1a6b35;--warn:#8a4b00}
@media (prefers-color-scheme:dark){:root{--paper:#1c2026;--ground:#12151a;--ink:#eceff3;--soft:#a9b2be;--line:#3a414b;--accent:#8fc0ff;--done:#7ddb9a;--warn:#ffc27a}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:36rem;margin:0 auto;padding:1rem}
header{display:flex;align-items:center;gap:.75rem;padding-top:1.5rem}
header img{max-width:8rem;max-height:3.5rem;background:#fff;border-radius:.25rem}
header p{margin:0;font-weight:600;font-size:1.125rem}
section{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.25rem;margin-bottom:1rem}
h1{font-size:1.375rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1rem;margin:0 0 .5rem}
p{margin:.5rem 0}
dl{margin:.75rem 0 0}
dt{color:var(--soft);font-size:.875rem}
dd{margin:0 0 .75rem;font-size:1.0625rem}
ol{list-style:none;margin:0;padding:0}
li{padding:.5rem 0 .5rem 1.25rem;border-left:2px solid var(--line);position:relative}
li::before{content:"";position:absolute;left:-.4rem;top:.95rem;width:.65rem;height:.65rem;border-radius:50%;background:var(--done)}
li time{display:block;color:var(--soft);font-size:.875rem}
label{display:block;font-weight:600;margin:.75rem 0 .25rem}
input{width:100%;font:inherit;padding:.625rem;border:1px solid var(--soft);border-radius:.375rem;background:var(--paper);color:inherit}
button{font:inherit;font-weight:600;margin-top:1rem;padding:.625rem 1.25rem;min-height:2.75rem;border:0;border-radius:.375rem;background:var(--accent);color:var(--paper);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
.note{white-space:pre-line}
.warning{color:var(--warn);font-weight:600}
footer{color:var(--soft);font-size:.875rem}
footer a{display:inline-block;padding:.5rem 0}
`;

export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
