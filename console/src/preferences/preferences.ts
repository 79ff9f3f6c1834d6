// What the person has chosen for the console, on every device (decision 0143). This device has a copy, so that nothing waits for the network.
// It is deleted when the person logs out.
import { computed, effect, signal } from '@preact/signals';
import { ApiError } from '../../../sdk/typescript/src/index.js';
import { LANGUAGES, personal, THEMES } from '../device/settings.js';
import { mayBeLoggedIn } from '../session/device.js';
import { isOffline, messageOf, session, type Session } from '../session/session.js';
import {
  NO_CHOICES,
  updateOf,
  withChange,
  withLater,
  withoutSent,
  type Change,
  type Choices,
  type ListName,
} from './choices.js';

/** `known`: as the service said last. `unsent`: changes of this device that the service does not have yet. */
type Copy = { userId: string; known: Choices; unsent: Change[] };

const NAME = 'crossdock-preferences';
/** A person who comes back to this tab sees what was changed elsewhere, at most so old. */
const FRESH_MS = 60_000;
const RETRY_MS = 30_000;

const copy = signal<Copy | undefined>(undefined);
/** Why the service refused the last changes. They are dropped. */
export const refusal = signal<string | undefined>(undefined);

/** What the person has chosen. Nothing while nobody is logged in. */
export const choices = computed<Choices>(() =>
  (copy.value?.unsent ?? []).reduce(withChange, copy.value?.known ?? NO_CHOICES),
);

/** Changes what the person has chosen: here at once, at the service as soon as it can be reached. */
export function choose(...changes: Change[]): void {
  const current = session.value;
  // Another tab may have changed the copy.
  const stored = current && (read(current.user.id) ?? copy.value);
  if (!current || !stored) return;
  refusal.value = undefined;
  store({ ...stored, unsent: withLater(stored.unsent, changes) });
  void synchronise();
}

/**
 * Shows what the person of the session has chosen. Called before the page is shown, once.
 * @param restored settled when the session of the device is known
 */
export function followPreferences(restored: Promise<unknown>): void {
  effect(() => {
    const { language, theme } = choices.value;
    // A later release may have more of them.
    personal.value = {
      language: LANGUAGES.find((each) => each === language),
      theme: THEMES.find((each) => each === theme),
    };
  });
  let before: string | undefined;
  session.subscribe((current) => {
    const userId = current?.user.id;
    if (current && userId !== before) enter(current);
    // The person has logged in again, or has a password of its own now.
    else if (current) void synchronise();
    // Somebody was here. Before a login, the copy may be of a session that another tab has.
    else if (before !== undefined) forget();
    before = userId;
  });
  // The person of the copy has gone without logging out, for example with the session at its end.
  void restored.then(
    () => !session.value && !mayBeLoggedIn() && forget(),
    () => undefined,
  );
  addEventListener('storage', ({ key }) => {
    if (key === NAME && session.value) copy.value = read(session.value.user.id) ?? copy.value;
  });
  addEventListener('online', () => void synchronise());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && Date.now() - readAtMs > FRESH_MS) void synchronise();
  });
}

function enter(current: Session): void {
  const { id: userId } = current.user;
  refusal.value = undefined;
  store(read(userId) ?? { userId, known: NO_CHOICES, unsent: [] });
  void synchronise();
}

function forget(): void {
  localStorage.removeItem(NAME);
  copy.value = undefined;
  clearTimeout(retry);
}

let readAtMs = 0;
let retry = 0;
let running: Promise<void> | undefined;
let isWanted = false;

/** One call at a time. What is chosen meanwhile is sent by the next one. */
function synchronise(): Promise<void> {
  isWanted = true;
  return (running ??= (async () => {
    while (isWanted) {
      isWanted = false;
      if (session.value) await exchange(session.value);
    }
  })().finally(() => (running = undefined)));
}

/** Sends the changes, and reads what was changed on other devices. */
async function exchange({ user, client }: Session): Promise<void> {
  const isHere = () => session.value?.user.id === user.id && copy.value?.userId === user.id;
  clearTimeout(retry);
  const sent = copy.value?.unsent ?? [];
  try {
    const { data } =
      sent.length === 0
        ? await client.users.preferences()
        : await client.users.updatePreferences(updateOf(sent));
    if (!isHere()) return;
    readAtMs = Date.now();
    const { updated_at: _, ...known } = data;
    const { unsent = [] } = read(user.id) ?? copy.value ?? {};
    store({ userId: user.id, known, unsent: withoutSent(unsent, sent) });
    takeOverViews(known);
  } catch (error) {
    if (!isHere()) return;
    if (!isFinal(error)) {
      // Without an answer, or the service is busy.
      retry = window.setTimeout(() => void synchronise(), RETRY_MS);
      return;
    }
    // Otherwise no later change could be sent.
    const { known = NO_CHOICES, unsent = [] } = copy.value ?? {};
    store({ userId: user.id, known, unsent: withoutSent(unsent, sent) });
    if (sent.length > 0) refusal.value = messageOf(error);
  }
}

const isFinal = (error: unknown) =>
  !isOffline(error) && error instanceof ApiError && [400, 403, 409, 413].includes(error.status);

/** Where devices stored views before the service had preferences. */
const OLD_VIEWS = 'crossdock-views';

/** Once per device, for the first person with lists who logs in: whose the views are is not known. */
function takeOverViews(known: Choices): void {
  const text = localStorage.getItem(OLD_VIEWS);
  if (text === null || session.value?.user.role === 'warehouse') return;
  void import('./old-views.js').then(
    ({ takenOver }) => {
      if (localStorage.getItem(OLD_VIEWS) === null) return;
      localStorage.removeItem(OLD_VIEWS);
      const changes = takenOver(text, known);
      if (changes.length > 0) choose(...changes);
    },
    // Its file could not be loaded. The next page tries again.
    () => undefined,
  );
}

function store(changed: Copy): void {
  copy.value = changed;
  localStorage.setItem(NAME, JSON.stringify(changed));
}

/** Undefined if the device has no copy of this user. */
function read(userId: string): Copy | undefined {
  try {
    // This page wrote it.
    const stored = JSON.parse(localStorage.getItem(NAME) ?? 'null') as Copy | null;
    return stored?.userId === userId ? stored : undefined;
  } catch {
    return undefined;
  }
}

export type View = { name: string; query: string };

export const viewsOf = (list: ListName): View[] => choices.value.views.filter((view) => view.list === list);

/** Saves a view. One with the same name is replaced. */
export const saveView = (list: ListName, { name, query }: View): void =>
  choose({ view: { list, name, query } });

export const removeView = (list: ListName, name: string): void =>
  choose({ view: { list, name, query: null } });

/** The columns that the person wants to see in the list. Undefined: those that it shows at first. */
export const columnsOf = (list: ListName): string[] | undefined =>
  choices.value.columns.find((each) => each.list === list)?.columns;

export const saveColumns = (list: ListName, columns: string[] | null): void =>
  choose({ columns: { list, columns } });
