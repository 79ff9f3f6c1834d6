import { signal } from '@preact/signals';
import { failureOf } from './failure.js';
import { t } from '../../texts/texts.js';

type Undo = () => Promise<unknown>;
type Toast = { id: number; text: string; isBad: boolean; undo?: Undo };

const toasts = signal<Toast[]>([]);
let nextId = 1;

/** A person has this time to undo a change. Nothing that needs an answer is a toast. */
const SHOWN_MS = 10_000;

/** Says that something is done. */
export function toast(text: string, undo?: Undo): void {
  add({ text, isBad: false, ...(undo ? { undo } : {}) });
}

export function toastFailure(error: unknown): void {
  add({ text: failureOf(error), isBad: true });
}

function add(fields: Omit<Toast, 'id'>): void {
  const id = (nextId += 1);
  toasts.value = [...toasts.value, { id, ...fields }];
  setTimeout(() => close(id), SHOWN_MS);
}

const close = (id: number) => {
  toasts.value = toasts.value.filter((each) => each.id !== id);
};

export const Toasts = () => (
  // Present from the beginning, so that screen readers announce what appears in it.
  <div class="toasts" role="status" data-testid="toasts">
    {toasts.value.map(({ id, text, isBad, undo }) => (
      <div key={id} class={isBad ? 'toast toast-bad' : 'toast'}>
        <span>{text}</span>
        {undo && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              close(id);
              undo().then(() => toast(t('office.undone')), toastFailure);
            }}
          >
            {t('common.undo')}
          </button>
        )}
        <button type="button" class="quiet" aria-label={t('common.close')} onClick={() => close(id)}>
          ✕
        </button>
      </div>
    ))}
  </div>
);
