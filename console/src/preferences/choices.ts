// Choices and their changes, without a browser.
import type { Preferences, PreferencesUpdate } from '../../../sdk/typescript/src/index.js';

export type Choices = Omit<Preferences, 'updated_at'>;
export type Changes = PreferencesUpdate;
export type ViewChange = NonNullable<Changes['views']>[number];
type ColumnsChange = NonNullable<Changes['columns']>[number];
export type ListName = ViewChange['list'];

export const NO_CHOICES: Choices = { language: null, theme: null, views: [], columns: [] };

export const isNothing = (changes: Changes): boolean => Object.keys(changes).length === 0;

export const isSameView = (a: { list: string; name: string }, b: { list: string; name: string }) =>
  a.list === b.list && a.name === b.name;

/** The choices with the changes, by the same rules as the service. */
export function withChanges(choices: Choices, changes: Changes): Choices {
  const { language = choices.language, theme = choices.theme } = changes;
  return {
    language,
    theme,
    views: (changes.views ?? []).reduce(withView, choices.views),
    columns: (changes.columns ?? []).reduce(withColumns, choices.columns),
  };
}

function withView(views: Choices['views'], { list, name, query }: ViewChange): Choices['views'] {
  const change = { list, name };
  if (query === null) return views.filter((view) => !isSameView(view, change));
  return views.some((view) => isSameView(view, change))
    ? views.map((view) => (isSameView(view, change) ? { list, name, query } : view))
    : [...views, { list, name, query }];
}

function withColumns(all: Choices['columns'], { list, columns }: ColumnsChange): Choices['columns'] {
  const others = all.filter((each) => each.list !== list);
  return columns === null ? others : [...others, { list, columns }];
}

/** One change after another, as one: of each view and each list, only the last change is left. */
export function bothChanges(first: Changes, next: Changes): Changes {
  const views = [
    ...(first.views ?? []).filter((view) => !next.views?.some((later) => isSameView(view, later))),
    ...(next.views ?? []),
  ];
  const columns = [
    ...(first.columns ?? []).filter(({ list }) => !next.columns?.some((later) => later.list === list)),
    ...(next.columns ?? []),
  ];
  return {
    ...first,
    ...next,
    ...(views.length > 0 ? { views } : {}),
    ...(columns.length > 0 ? { columns } : {}),
  };
}

/** What is left of the changes after some were sent. A view that was changed again meanwhile is not one that was sent. */
export function withoutSent(changes: Changes, sent: Changes): Changes {
  const isLeft = (change: unknown, done: readonly unknown[] = []) =>
    !done.some((each) => JSON.stringify(each) === JSON.stringify(change));
  const views = changes.views?.filter((view) => isLeft(view, sent.views)) ?? [];
  const columns = changes.columns?.filter((each) => isLeft(each, sent.columns)) ?? [];
  return {
    ...(changes.language !== undefined && changes.language !== sent.language
      ? { language: changes.language }
      : {}),
    ...(changes.theme !== undefined && changes.theme !== sent.theme ? { theme: changes.theme } : {}),
    ...(views.length > 0 ? { views } : {}),
    ...(columns.length > 0 ? { columns } : {}),
  };
}
