// Choices and their changes, without a browser.
import type { Preferences, PreferencesUpdate } from '../../../sdk/typescript/src/index.js';

export type Choices = Omit<Preferences, 'updated_at'>;
export type ViewChange = NonNullable<PreferencesUpdate['views']>[number];
type ColumnsChange = NonNullable<PreferencesUpdate['columns']>[number];
export type ListName = ViewChange['list'];

/** A change of one thing. `null` removes it. */
export type Change =
  | Pick<PreferencesUpdate, 'language' | 'theme'>
  | { view: ViewChange }
  | { columns: ColumnsChange };

export const NO_CHOICES: Choices = { language: null, theme: null, views: [], columns: [] };

/** The choices with a change, by the same rules as the service: a view that is saved again keeps its place. */
export function withChange(choices: Choices, change: Change): Choices {
  if ('view' in change) {
    const { list, name, query } = change.view;
    const views = choices.views.flatMap((view) => {
      if (view.list !== list || view.name !== name) return [view];
      return query === null ? [] : [{ list, name, query }];
    });
    const isNew = query !== null && !views.some((view) => view.list === list && view.name === name);
    return { ...choices, views: isNew ? [...views, { list, name, query }] : views };
  }
  if ('columns' in change) {
    const { list, columns } = change.columns;
    const others = choices.columns.filter((each) => each.list !== list);
    return { ...choices, columns: columns ? [...others, { list, columns }] : others };
  }
  return { ...choices, ...change };
}

/** What a change is about. Of two with the same subject, only the later one is sent. */
function subjectOf(change: Change): string {
  if ('view' in change) return JSON.stringify([change.view.list, change.view.name]);
  return 'columns' in change ? change.columns.list : Object.keys(change).join();
}

export const withLater = (changes: Change[], later: Change[]): Change[] => [
  ...changes.filter((change) => !later.some((each) => subjectOf(each) === subjectOf(change))),
  ...later,
];

/** What is left of the changes after some were sent. What was changed again meanwhile was not sent. */
export function withoutSent(changes: Change[], sent: Change[]): Change[] {
  const done = sent.map((each) => JSON.stringify(each));
  return changes.filter((change) => !done.includes(JSON.stringify(change)));
}

/** The changes as the service takes them. */
export const updateOf = (changes: Change[]): PreferencesUpdate => ({
  ...changes.reduce<PreferencesUpdate>(
    (all, change) => ('view' in change || 'columns' in change ? all : { ...all, ...change }),
    {},
  ),
  views: changes.flatMap((change) => ('view' in change ? change.view : [])),
  columns: changes.flatMap((change) => ('columns' in change ? change.columns : [])),
});
