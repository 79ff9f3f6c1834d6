import { settings } from './settings.js';
import type { Tone } from '../ui/tone.js';

type Note = { hertz: number; startMs: number; lengthMs: number };

/** High is good. Low is bad. Two notes ask for attention. */
const NOTES: Record<Tone, Note[]> = {
  good: [{ hertz: 1320, startMs: 0, lengthMs: 90 }],
  warn: [
    { hertz: 660, startMs: 0, lengthMs: 110 },
    { hertz: 660, startMs: 160, lengthMs: 110 },
  ],
  bad: [{ hertz: 165, startMs: 0, lengthMs: 420 }],
  wait: [{ hertz: 880, startMs: 0, lengthMs: 40 }],
};

const VOLUME = 0.2;
let audio: AudioContext | undefined;

export function play(tone: Tone): void {
  if (!settings.value.hasSound) return;
  audio ??= new AudioContext();
  // A browser keeps sound off until the first key.
  void audio.resume();
  for (const note of NOTES[tone]) playNote(audio, note, tone === 'bad' ? 'square' : 'sine');
}

function playNote(context: AudioContext, { hertz, startMs, lengthMs }: Note, type: OscillatorType): void {
  const start = context.currentTime + startMs / 1000;
  const end = start + lengthMs / 1000;
  const oscillator = new OscillatorNode(context, { type, frequency: hertz });
  const gain = new GainNode(context, { gain: VOLUME });
  gain.gain.setTargetAtTime(0, end - 0.02, 0.01);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(end + 0.05);
}
