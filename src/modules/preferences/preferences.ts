// What a user has chosen for the console (decision 0143).
import type { PersonContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import {
  addPreferences,
  lockPreferences,
  selectPreferences,
  storePreferences,
  type ListColumns,
  type PreferencesRow,
  type SavedView,
} from './queries.js';

export type { PreferencesRow };

type SentPreferences = BodyOf<'updatePreferences'>;
type Choices = Omit<PreferencesRow, 'updatedAt'>;

/** The description of the operation names both. */
const MAX_VIEWS = 60;
const MAX_KIBIBYTES = 32;

/** The preferences of a user who has never changed them. */
const NONE: PreferencesRow = { language: null, theme: null, views: [], columns: [], updatedAt: null };

export async function readPreferences(ctx: PersonContext): Promise<PreferencesRow> {
  const [[row = NONE]] = await ctx.asTenant().read([selectPreferences(ctx)]);
  return row;
}

/**
 * Changes the given choices, each view and each list by itself, so that two devices lose nothing of each other.
 * @throws ApiError preferences_full
 */
export function changePreferences(
  ctx: PersonContext,
  sent: SentPreferences,
): Promise<{ preferences: PreferencesRow; isChanged: boolean }> {
  return ctx.asTenant().write(async (tx) => {
    await tx.count(addPreferences(ctx));
    const [stored] = await tx.query(lockPreferences(ctx));
    if (!stored) throw new Error('The preferences were not added.');
    const { updatedAt: _, ...before } = stored;
    const after = withChanges(before, sent);
    if (JSON.stringify(after) === JSON.stringify(before)) return { preferences: stored, isChanged: false };
    assertRoom(before, after);
    const [preferences] = await tx.query(storePreferences(ctx, after));
    if (!preferences) throw new Error('The preferences were not stored.');
    return { preferences, isChanged: true };
  });
}

function withChanges(before: Choices, sent: SentPreferences): Choices {
  const { language = before.language, theme = before.theme } = sent;
  return {
    language,
    theme,
    views: (sent.views ?? []).reduce(withView, before.views),
    columns: (sent.columns ?? []).reduce(withColumns, before.columns),
  };
}

type ViewChange = NonNullable<SentPreferences['views']>[number];
type ColumnsChange = NonNullable<SentPreferences['columns']>[number];

function withView(views: SavedView[], { list, name, query }: ViewChange): SavedView[] {
  const isSame = (view: SavedView) => view.list === list && view.name === name;
  if (query === null) return views.filter((view) => !isSame(view));
  const saved = { list, name, query };
  // A view that is saved again keeps its place.
  return views.some(isSame) ? views.map((view) => (isSame(view) ? saved : view)) : [...views, saved];
}

function withColumns(all: ListColumns[], { list, columns }: ColumnsChange): ListColumns[] {
  const others = all.filter((each) => each.list !== list);
  return columns === null ? others : [...others, { list, columns }];
}

/** What became too large under an earlier limit can be made smaller. */
function assertRoom(before: Choices, after: Choices): void {
  const isTooMany = after.views.length > Math.max(MAX_VIEWS, before.views.length);
  const isTooLarge = sizeOf(after) > Math.max(MAX_KIBIBYTES * 1024, sizeOf(before));
  if (isTooMany || isTooLarge)
    throw new ApiError('preferences_full', { args: { views: MAX_VIEWS, kibibytes: MAX_KIBIBYTES } });
}

/** In bytes. */
const sizeOf = ({ views, columns }: Choices): number => Buffer.byteLength(JSON.stringify({ views, columns }));
