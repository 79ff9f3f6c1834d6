import type {
  ManagedUser,
  TeamAction,
  TeamUser,
  UserAction,
} from '../../../../../sdk/typescript/src/index.js';
import { api, session } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import type { ListPage } from '../../list/listed.js';
import { orderOf, type ListState } from '../../list/state.js';
import { PAGE_SIZE } from '../../list/listed.js';
import { confirmed } from '../../ui/own-password.js';

/** A user. Only the team says whether a courier's user is an owner. */
export type Person = ManagedUser & Partial<Pick<TeamUser, 'courier_role'>>;

const roleOfSession = () => session.value?.user.role;

/** Administrators manage all users, managers and owners of couriers those of their team. */
export const isAdmin = () => roleOfSession() === 'admin';
export const isCourier = () => roleOfSession() === 'courier';

/** The roles that the person can give. Those of the contract. */
export const givenRoles = () =>
  isAdmin() ? (['admin', 'manager', 'warehouse', 'courier'] as const) : (['warehouse', 'courier'] as const);

type Search = Parameters<ReturnType<typeof api>['users']['listTeam']>[0];

/** Returns one page of users. */
export async function listPeople(
  search: NonNullable<Search>,
  signal: AbortSignal,
): Promise<{ rows: Person[]; total: number }> {
  const { users } = api();
  const { data, meta } = isAdmin()
    ? await users.list(search, { signal })
    : await users.listTeam(search, { signal });
  return { rows: data, total: meta.total_records };
}

/** Loads what the address of a list says. */
export const loadPeople = (
  { search, filters, sort, page }: ListState,
  signal: AbortSignal,
): Promise<ListPage<Person>> =>
  listPeople(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      // The choices are the roles that the person can give.
      ...(filters['role'] ? { role: filters['role'] as 'warehouse' } : {}),
      ...(filters['courier'] ? { courier_id: filters['courier'] } : {}),
      ...(filters['active'] ? { is_active: filters['active'] === 'true' } : {}),
      ...orderOf(sort),
    },
    signal,
  );

/** Changes or creates a user. */
export const changePerson = (action: UserAction & TeamAction) =>
  confirmed((confirmation) => {
    const { users } = api();
    const sent = { ...action, ...confirmation };
    return isAdmin() ? users.manage(sent) : users.manageTeam(sent);
  });

/** Turns off a second factor, which only administrators can. */
export const resetFactor = (user_id: string) =>
  confirmed((confirmation) => api().users.manage({ action: 'reset_two_factor', user_id, ...confirmation }));

/** The place of a user, as the fields of a form. */
export type PlaceValues = { role: string; courier_role: string; courier_id: string };

/** Returns the fields of a place in the contract. @throws if a courier is missing */
export function placeOf({ role, courier_role, courier_id }: PlaceValues) {
  // The choices are those of the contract. Administrators have more of them, in an operation of their own.
  if (role !== 'courier') return { role: role as 'warehouse' };
  if (!isCourier() && courier_id === '') throw new Error(t('office.chooseCourier'));
  return {
    role,
    ...(isCourier() ? {} : { courier_id }),
    ...(isAdmin() ? {} : { courier_role: courier_role as 'owner' | 'member' }),
  } as const;
}
