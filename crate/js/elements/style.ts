// The common style of the elements. A page may change the custom properties at the top, and the parts.

export const COMMON_STYLE = `
:host {
  --_paper: var(--shelfish-paper, light-dark(#fffdf9, #232220));
  --_raised: var(--shelfish-raised, light-dark(#efebe2, #2f2d2a));
  --_edge: var(--shelfish-edge, light-dark(#e0dacd, #3a3733));
  --_ink: var(--shelfish-ink, light-dark(#24221e, #e9e4da));
  --_soft: var(--shelfish-soft, light-dark(#645f55, #a8a194));
  --_accent: var(--shelfish-accent, light-dark(#1f6a62, #74bfb3));
  --_wash: var(--shelfish-wash, light-dark(#dcebe7, #24403c));
  --_light-square: var(--shelfish-light-square, light-dark(#efdfc0, #d9c7a5));
  --_dark-square: var(--shelfish-dark-square, light-dark(#b58d66, #9a7654));
  --_white: light-dark(#fffdf9, #dcd6ca);
  --_black: light-dark(#4a4640, #0e0d0c);
  display: block;
  container-type: inline-size;
  color-scheme: light dark;
  color: var(--_ink);
  font: 15px/1.4 var(--shelfish-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
  text-align: start;
}
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
/* Reserves space while the score is unknown, so that the text next to it does not move. */
.score { flex: none; min-width: 3.2em; font-size: 24px; font-weight: 650; letter-spacing: -0.02em; }
.score:empty::before { content: "\\200b"; }
.facts { overflow: hidden; color: var(--_soft); font-size: 14px; text-overflow: ellipsis; }
button { border: 0; border-radius: 6px; background: none; color: inherit; font: inherit; cursor: pointer; }
button:hover { background: var(--_raised); }
button:disabled { opacity: 0.35; cursor: default; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: -2px; }
.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.error { background: light-dark(#f8e6e1, #3d2723); color: light-dark(#8d2a1d, #f0a090); }
`;
