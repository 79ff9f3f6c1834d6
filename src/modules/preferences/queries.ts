import type { components } from '../../../generated/contract.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import { columns } from '../../platform/db/columns.js';
import { tenantRows } from '../../platform/db/filters.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';

export type SavedView = components['schemas']['SavedView'];
export type ListColumns = components['schemas']['ListColumns'];

const PREFERENCES = columns('UserPreferences', 'p', ['language', 'theme', 'views', 'columns', 'updatedAt']);

/** As this module writes it. */
export type PreferencesRow = Omit<RowOf<typeof PREFERENCES>, 'language' | 'theme' | 'views' | 'columns'> & {
  language: 'en' | 'es' | null;
  theme: 'system' | 'light' | 'dark' | null;
  views: SavedView[];
  columns: ListColumns[];
};

/** Returns no row if the user has never changed them. */
export const selectPreferences = (ctx: PersonContext): Sql<PreferencesRow> =>
  once`select ${PREFERENCES} from user_preferences p where ${ownPreferences(ctx)}`;

/** Adds the row that is missing, because a row that does not exist cannot be locked. */
export const addPreferences = ({ caller: { tenantId, userId } }: PersonContext): Sql => sql`
  insert into user_preferences (tenant_id, user_id) values (${tenantId}::uuid, ${userId}::uuid)
  on conflict (tenant_id, user_id) do nothing`;

/** Changes of several devices wait for each other. */
export const lockPreferences = (ctx: PersonContext): Sql<PreferencesRow> =>
  once`select ${PREFERENCES} from user_preferences p where ${ownPreferences(ctx)} for update`;

/** The clock of the database dates the change. */
export const storePreferences = (
  ctx: PersonContext,
  { language, theme, views, columns: chosen }: Omit<PreferencesRow, 'updatedAt'>,
): Sql<PreferencesRow> => sql`
  update user_preferences p set language = ${language}, theme = ${theme}, views = ${JSON.stringify(views)}::jsonb,
    columns = ${JSON.stringify(chosen)}::jsonb, updated_at = now()
  where ${ownPreferences(ctx)} returning ${PREFERENCES}`;

const ownPreferences = (ctx: PersonContext): Sql =>
  sql`${tenantRows(ctx, 'p')} and p.user_id = ${ctx.caller.userId}::uuid`;
