/** Short wooden sounds, generated with Web Audio. */

let context: AudioContext | undefined;

/** Plays the sound of a move: a knock, a louder knock for a capture, and a tone for a check. */
export function play(san: string): void {
  context ??= new AudioContext();
  const { currentTime: now } = context;
  knock(
    context,
    now,
    san.includes("x") ? 0.5 : 0.3,
    san.includes("x") ? 900 : 1400,
  );
  if (/[+#]/.test(san))
    tone(context, now + 0.04, san.includes("#") ? 330 : 660);
}

/** Plays filtered noise, which sounds like wood. */
function knock(
  audio: AudioContext,
  start: number,
  volume: number,
  frequency: number,
): void {
  const length = Math.round(audio.sampleRate * 0.06);
  const buffer = audio.createBuffer(1, length, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i++)
    samples[i] = (Math.random() * 2 - 1) * (1 - i / length) ** 4;
  const source = new AudioBufferSourceNode(audio, { buffer });
  const band = new BiquadFilterNode(audio, {
    type: "bandpass",
    frequency,
    Q: 1.2,
  });
  source
    .connect(band)
    .connect(new GainNode(audio, { gain: volume }))
    .connect(audio.destination);
  source.start(start);
}

function tone(audio: AudioContext, start: number, frequency: number): void {
  const gain = new GainNode(audio, { gain: 0.12 });
  gain.gain.exponentialRampToValueAtTime(0.001, start + 0.25);
  const source = new OscillatorNode(audio, { frequency, type: "triangle" });
  source.connect(gain).connect(audio.destination);
  source.start(start);
  source.stop(start + 0.26);
}
