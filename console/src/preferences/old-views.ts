import type { Change, Choices, ListName, ViewChange } from './choices.js';

// As the service has them.
const LONGEST_NAME = 40;
const LONGEST_QUERY = 1000;
const MOST_VIEWS = 60;
const QUERY = /^[A-Za-z0-9._~*%+&=-]*$/;

/**
 * Returns the views that a device stored before the service had preferences, as changes. A view of a name that the user has already is
 * left out, and so is what the service would refuse.
 *
 * @param text what the device stored: by list, names and queries
 */
export function takenOver(text: string, { views }: Choices): Change[] {
  const isKnown = ({ list, name }: ViewChange) =>
    views.some((view) => view.list === list && view.name === name);
  return viewsIn(text)
    .filter((view) => !isKnown(view))
    .slice(0, Math.max(0, MOST_VIEWS - views.length))
    .map((view) => ({ view }));
}

function viewsIn(text: string): ViewChange[] {
  try {
    // A page of an earlier release wrote it, with the names of its lists.
    const stored = Object.entries(JSON.parse(text) as object) as [
      ListName,
      { name: string; query: string }[],
    ][];
    return stored
      .flatMap(([list, views]) => views.map(({ name, query }) => ({ list, name: name.trim(), query })))
      .filter(isFit);
  } catch {
    return [];
  }
}

const isFit = ({ name, query }: { name: string; query: string }) =>
  name !== '' && name.length <= LONGEST_NAME && query.length <= LONGEST_QUERY && QUERY.test(query);
