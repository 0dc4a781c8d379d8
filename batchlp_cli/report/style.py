"""The one style sheet of the page: light, printable, without colour as the only sign of anything."""

CSS = """
:root { --ink: #1a1a1a; --faint: #595959; --line: #d9d9d9; --soft: #f6f6f4; --blue: #0072B2; --red: #a83f00; --amber: #7a5200; }
* { box-sizing: border-box; }
html { background: #fff; color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
body { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1rem; font-weight: 600; color: var(--faint); margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0; max-width: 48rem; }
a { color: var(--blue); }
.answer { font-size: 1.6rem; line-height: 1.25; font-weight: 650; margin: .25rem 0 .5rem; }
.answer .mark { display: inline-block; min-width: 1.3em; }
.good .mark { color: var(--blue); }
.bad .mark { color: var(--red); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.4rem, 1fr)); gap: .75rem; margin: 1rem 0; padding: 0; }
.tiles, .look { list-style: none; }
.tiles li { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .5rem .75rem; }
.tiles b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--faint); font-size: .85rem; }
.look { list-style: none; padding: 0; margin: .5rem 0 0; max-width: 54rem; }
.look li { padding: .3rem 0 .3rem 6.5rem; position: relative; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.look li > b { position: absolute; left: 0; font-weight: 600; }
.missing > b { color: var(--red); }
.costly > b { color: var(--amber); }
.noted > b { color: var(--faint); font-weight: 400; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: .9rem; margin-top: 1rem; }
figure { margin: 1rem 0; break-inside: avoid; }
figcaption { color: var(--faint); font-size: .87rem; max-width: 48rem; }
svg.figure { display: block; width: 100%; max-width: 50rem; height: auto; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: .25rem; }
th, td { text-align: left; padding: .22rem .9rem .22rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 400; }
thead th { font-weight: 600; border-bottom: 1.5px solid var(--faint); vertical-align: bottom; }
tbody th, td { overflow-wrap: anywhere; max-width: 26rem; min-width: 4.6rem; }
tbody th { min-width: 5.5rem; }
td.w { white-space: nowrap; }
th.n, td.n { text-align: right; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; font-size: .9rem; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--faint); font-size: .85rem; }
@media print {
  html { font-size: 10.5px; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  tr, .tiles, .look li { break-inside: avoid; }
  thead { display: table-header-group; }
  caption, thead { break-after: avoid; }
  tbody tr:nth-child(-n+3), tbody tr:last-child { break-before: avoid; }
  .scroll { overflow: visible; }
  .tiles li { background: #fff; }
  svg.figure { max-width: 17cm; }
}
"""
