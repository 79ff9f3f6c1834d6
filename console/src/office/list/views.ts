import { signal } from '@preact/signals';

/** A name for what a list shows: the query of its address. This device keeps the views, because the contract has no preferences yet. */
export type View = { name: string; query: string };

const NAME = 'crossdock-views';

const views = signal<Record<string, View[]>>(read());

export const viewsOf = (page: string): View[] => views.value[page] ?? [];

/** Saves a view. One with the same name is replaced. */
export function saveView(page: string, view: View): void {
  store(page, [...viewsOf(page).filter(({ name }) => name !== view.name), view]);
}

export function removeView(page: string, name: string): void {
  store(
    page,
    viewsOf(page).filter((view) => view.name !== name),
  );
}

function store(page: string, changed: View[]): void {
  views.value = { ...views.value, [page]: changed };
  localStorage.setItem(NAME, JSON.stringify(views.value));
}

function read(): Record<string, View[]> {
  try {
    // This page wrote it.
    return JSON.parse(localStorage.getItem(NAME) ?? '{}') as Record<string, View[]>;
  } catch {
    return {};
  }
}
