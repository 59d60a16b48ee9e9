// The entry `shelfish/score`: scores as text and as winning chances, and the best known score of a position.

export * from "./best.js";
export * from "./endgame.js";
export * from "./score.js";
