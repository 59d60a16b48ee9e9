// The style of the game, after the common style of the elements.

export const STYLE = `
.game {
  display: grid;
  grid-template: "stage" auto "verdict" auto "graph" auto "moves" auto "controls" auto / minmax(0, 1fr);
  overflow: hidden;
  border: 1px solid var(--_edge);
  border-radius: var(--shelfish-radius, 10px);
  background: var(--_paper);
}
.stage { grid-area: stage; display: grid; grid-template: ". above" auto "bar board" auto ". below" auto / 10px minmax(0, 1fr); gap: 0 4px; padding: 6px 8px; }
.player { display: flex; align-items: center; gap: 6px; min-height: 26px; margin: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font-size: 14px; font-weight: 600; }
.player:empty { display: none; }
.player::before { content: ""; flex: none; width: 9px; height: 9px; border: 1px solid var(--_soft); border-radius: 3px; background: var(--_white); }
.player.black::before { background: var(--_black); }
.player.above { grid-area: above; }
.player.below { grid-area: below; }
.player span { margin-left: auto; color: var(--_soft); font-weight: 500; }
.place { grid-area: board; aspect-ratio: 1; touch-action: pan-y; user-select: none; -webkit-user-select: none; border-radius: 4px; overflow: hidden; cursor: pointer; }
.squares { display: block; width: 100%; height: 100%; }
.light { fill: var(--_light-square); }
.dark { fill: var(--_dark-square); }
.last { fill: var(--_accent); opacity: 0.34; }
.check { fill: #d33; opacity: 0.5; }
.arrow { fill: var(--_accent); opacity: 0.72; }
.man { transition: transform 0.14s ease-out; }
.coordinates { font-size: 9px; font-weight: 600; }
.on-dark { fill: var(--_light-square); }
.on-light { fill: light-dark(#8a6444, #7c5b3d); }
.bar { grid-area: bar; position: relative; overflow: hidden; border-radius: 3px; background: var(--_black); box-shadow: 0 0 0 1px var(--_edge); }
.bar div { position: absolute; inset: 0; background: var(--_white); transform-origin: bottom; transform: scaleY(var(--share, 0.5)); transition: transform 0.3s ease; }
.bar.flipped div { transform-origin: top; }
.bar.unknown, .graph { background: repeating-linear-gradient(135deg, var(--_raised) 0 4px, var(--_edge) 4px 6px); }
.bar.unknown div { display: none; }
.verdict { grid-area: verdict; display: flex; align-items: baseline; gap: 10px; height: 40px; padding: 2px 14px 0; overflow: hidden; white-space: nowrap; }
.graph { grid-area: graph; position: relative; height: 54px; margin: 2px 12px 6px; border-radius: 5px; box-shadow: 0 0 0 1px var(--_edge); cursor: pointer; touch-action: pan-y; }
.graph svg { position: absolute; width: 100%; height: 100%; border-radius: inherit; }
.black-share { fill: var(--_black); }
.white-share { fill: var(--_white); }
.zero { stroke: var(--_soft); stroke-opacity: 0.6; vector-effect: non-scaling-stroke; }
.cursor { position: absolute; inset-block: 0; width: 2px; margin-left: -1px; background: var(--_accent); pointer-events: none; }
.moves { grid-area: moves; display: grid; grid-template-columns: 2.4em 1fr 1fr; align-content: start; max-height: 168px; margin: 0; padding: 4px 12px; overflow-y: auto; scrollbar-width: thin; border-top: 1px solid var(--_edge); }
.moves > span { padding: 3px 0; color: var(--_soft); font-size: 13px; }
.moves button { display: flex; justify-content: space-between; align-items: baseline; gap: 6px; padding: 3px 7px; text-align: start; }
.moves small { color: var(--_soft); font-size: 12px; }
.moves button[aria-current] { background: var(--_wash); font-weight: 650; }
.moves button[aria-current] small { color: var(--_ink); font-weight: 400; }
.comment, .error { grid-column: 1 / -1; margin: 0; padding: 6px 14px; font-size: 14px; overflow-wrap: anywhere; }
.comment { color: var(--_soft); height: 58px; overflow-y: auto; }
.controls { grid-area: controls; border-top: 1px solid var(--_edge); }
.buttons { display: flex; justify-content: center; gap: 4px; padding: 4px 8px; }
.buttons button { display: grid; place-items: center; flex: 0 1 56px; height: 38px; }
.buttons svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.single .graph, .single .moves, .single .buttons { display: none; }
@container (min-width: 560px) {
  .game { grid-template: "stage verdict" auto "stage graph" auto "stage moves" minmax(0, 1fr) "stage controls" auto / minmax(0, 58fr) minmax(0, 42fr); }
  .stage { padding: 8px; }
  .verdict { height: 48px; padding-top: 8px; }
  .moves { max-height: none; min-height: 0; height: 0; min-height: 100%; }
}
@media (prefers-reduced-motion: reduce) { .man, .bar div { transition: none; } }
`;
