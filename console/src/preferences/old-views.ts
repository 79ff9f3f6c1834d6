import { isSameView, type Changes, type Choices, type ListName, type ViewChange } from './choices.js';

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
export function takenOver(text: string, { views }: Choices): Changes {
  const taken = viewsIn(text).filter((view) => !views.some((each) => isSameView(each, view)));
  const room = Math.max(0, MOST_VIEWS - views.length);
  return taken.length > 0 && room > 0 ? { views: taken.slice(0, room) } : {};
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

const isFit = ({ name, query }: ViewChange) =>
  name !== '' &&
  name.length <= LONGEST_NAME &&
  query !== null &&
  query.length <= LONGEST_QUERY &&
  QUERY.test(query);
