import { useState } from 'preact/hooks';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { loadTeamTexts } from '../../../texts/on-use/team.js';
import { t } from '../../../texts/texts.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { useList, type Listed } from '../../list/listed.js';
import { peopleColumns } from './columns.js';
import { NewUserDialog } from './new-user.js';
import { givenRoles, isCourier, loadPeople, type Person } from './people.js';
import { UserPanel } from './user-panel.js';

type TeamProps = {
  list: Listed<Person>;
  /** The user whose panel is open. */
  name: string | undefined;
  linkOf: (username: string) => string;
  couriers?: CourierRecord[] | undefined;
  /** The courier that is chosen first for a new user. */
  courierId: string | undefined;
  canManage: boolean;
  /** Whether the address asks for a new user. */
  isWanted?: boolean;
};

/** The users that the person works with, for the office and for couriers. */
export function Team({ list, name, linkOf, couriers, courierId, canManage, isWanted = false }: TeamProps) {
  const { address, loaded } = list;
  const [isAdding, setIsAdding] = useState(false);
  const close = () => {
    setIsAdding(false);
    if (isWanted) openAddress(address.linkTo(name), { isSame: true });
  };
  return (
    <>
      <Heading title={t('team.title')}>
        {canManage && (
          <button type="button" class="primary" onClick={() => setIsAdding(true)}>
            {t('team.new')}
          </button>
        )}
      </Heading>
      <DataList
        page={isCourier() ? 'my-team' : 'team'}
        title={t('team.title')}
        of={list}
        columns={peopleColumns(linkOf)}
        keyOf={({ user_id }) => user_id}
        nameOf={({ username }) => username}
        onOpen={({ username }) => openAddress(address.linkTo(username))}
        isOpen={({ username }) => username === name}
        search={{ label: t('team.search') }}
        filters={filters(couriers)}
        empty={{ title: t('team.none'), hint: t('team.noneHint') }}
        panel={
          name && (
            <UserPanel
              key={name}
              username={name}
              canManage={canManage}
              couriers={couriers}
              closeLink={address.linkTo()}
              onChanged={loaded.reload}
            />
          )
        }
      />
      {canManage && (isAdding || isWanted) && (
        <NewUserDialog couriers={couriers} courierId={courierId} onClose={close} onCreated={loaded.reload} />
      )}
    </>
  );
}

type Filter = { name: string; label: string; options: [value: string, text: string][] };

function filters(couriers: CourierRecord[] | undefined): Filter[] {
  const active: Filter = {
    name: 'active',
    label: t('common.status'),
    options: [
      ['true', t('office.active')],
      ['false', t('office.inactive')],
    ],
  };
  if (isCourier()) return [active];
  return [
    { name: 'role', label: t('team.role'), options: givenRoles().map((role) => [role, t(`role.${role}`)]) },
    { name: 'courier', label: t('common.courier'), options: courierOptions(couriers) },
    active,
  ];
}

/** The page with its texts. */
export async function loadTeamPage() {
  await loadTeamTexts();
  return TeamPage;
}

/** The users of the warehouse and of the couriers. */
function TeamPage() {
  const list = useList('team', loadPeople);
  const at = officeAddress.value;
  const couriers = useCouriers();
  return (
    <Team
      list={list}
      name={at?.argument}
      linkOf={(username) => officeLink(['team', username])}
      couriers={couriers.data}
      courierId={list.address.state.filters['courier']}
      canManage
      isWanted={at?.query.get('new') === 'user'}
    />
  );
}
