import { signal } from '@preact/signals';
import { play } from '../device/sound.js';
import type { Tone } from './tone.js';

/** The result of the last scan: one big word, a colour, a sound, and a sentence that says what to do. */
export type Outcome = { tone: Tone; word: string; detail: string; at: number; subject: string };

export const outcome = signal<Outcome | null>(null);

/** Good news of the parcel before the one on the screen. It stays until the next good or bad news. */
const earlier = signal<Outcome | null>(null);

/** A person may not have read a word that is younger. */
const UNREAD_MS = 1_500;

/** @param subject the scan that it is about, if it is about one */
export function show(tone: Tone, word: string, detail: string, subject = ''): void {
  const last = outcome.value;
  const isUnread = last?.tone === 'good' && last.subject !== subject && Date.now() - last.at < UNREAD_MS;
  // What goes wrong has the whole attention.
  if (tone === 'bad' || (tone === 'good' && !isUnread)) earlier.value = null;
  else if (isUnread) earlier.value = { ...last, detail: numberAnd(last) };
  outcome.value = { tone, word, detail, subject, at: Date.now() };
  play(tone);
}

const numberAnd = ({ subject, detail }: Outcome) =>
  detail.includes(subject) ? detail : `${subject} · ${detail}`;

/** Shows good news of the parcel before, beside what the person is doing with the next one. */
export function showEarlier(tone: Tone, word: string, detail: string, subject: string): void {
  earlier.value = { tone, word, detail, subject, at: Date.now() };
  play(tone);
}

export function clearOutcome(): void {
  outcome.value = null;
  earlier.value = null;
}

/** Signs, so that no result depends on its colour alone. */
const SIGNS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', wait: '' };

export function OutcomeBanner({ idle }: { idle: string }) {
  const current = outcome.value;
  return (
    <div class="outcomes">
      <EarlierBanner />
      <CurrentBanner current={current} idle={idle} />
    </div>
  );
}

function EarlierBanner() {
  const current = earlier.value;
  // Present from the beginning, so that screen readers announce what appears in it.
  return (
    <div role="status" data-testid="earlier">
      {current && (
        <div key={current.at} class={`earlier outcome-${current.tone}`}>
          <span aria-hidden="true">{SIGNS[current.tone]}</span>
          <strong class="earlier-word">{current.word}</strong>
          <span class="earlier-detail">{current.detail}</span>
        </div>
      )}
    </div>
  );
}

function CurrentBanner({ current, idle }: { current: Outcome | null; idle: string }) {
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
