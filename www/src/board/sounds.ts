/** Short sounds of moves, generated with Web Audio. */

let audio: AudioContext | undefined;

/** Plays the sound of a move: a knock, a lower knock for a capture, and a tone for a check. */
export function play(san: string): void {
  audio ??= new AudioContext();
  const start = audio.currentTime;
  const [frequency, seconds] = /[+#]/.test(san)
    ? [660, 0.25]
    : [san.includes("x") ? 220 : 330, 0.07];
  const gain = new GainNode(audio, { gain: 0.3 });
  gain.gain.exponentialRampToValueAtTime(0.001, start + seconds);
  const source = new OscillatorNode(audio, { frequency, type: "triangle" });
  source.connect(gain).connect(audio.destination);
  source.start(start);
  source.stop(start + seconds);
}
