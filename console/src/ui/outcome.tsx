import { signal } from '@preact/signals';
import { play } from '../device/sound.js';
import type { Tone } from './tone.js';

/** The result of the last scan: one big word, a colour, a sound, and a sentence that says what to do. */
export type Outcome = { tone: Tone; word: string; detail: string; at: number; subject: string };

export const outcome = signal<Outcome | null>(null);

/** @param subject the scan that it is about, if it is about one */
export function show(tone: Tone, word: string, detail: string, subject = ''): void {
  outcome.value = { tone, word, detail, subject, at: Date.now() };
  play(tone);
}

export const clearOutcome = () => {
  outcome.value = null;
};

/** Signs, so that no result depends on its colour alone. */
const SIGNS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', wait: '' };

export function OutcomeBanner({ idle }: { idle: string }) {
  const current = outcome.value;
  return (
    <div
      class={`outcome outcome-${current?.tone ?? 'idle'}`}
      role="status"
      aria-live="assertive"
      data-testid="outcome"
    >
      {current ? (
        // A new key restarts the animation for the same word.
        <div key={current.at} class="outcome-body">
          {SIGNS[current.tone] && (
            <span class="outcome-sign" aria-hidden="true">
              {SIGNS[current.tone]}
            </span>
          )}
          <strong class="outcome-word">{current.word}</strong>
          {current.detail && <span class="outcome-detail">{current.detail}</span>}
        </div>
      ) : (
        <div class="outcome-body">
          <span class="outcome-detail">{idle}</span>
        </div>
      )}
    </div>
  );
}
