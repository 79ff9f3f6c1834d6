import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Table } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { ActiveTag } from '../../ui/active-tag.js';
import type { TabProps } from '../courier-parts.js';
import { listPeople } from '../team/people.js';

/** The users of a courier. */
export function UsersTab({ courier: { courier_id: courierId } }: TabProps) {
  const users = useLoad(
    async (signal) => (await listPeople({ courier_id: courierId, limit: 100 }, signal)).rows,
    [courierId],
  );
  return (
    <section class="stack">
      <div class="actions">
        <a class="button" href={officeLink('team', { courier: courierId, new: 'user' })}>
          {t('team.new')}
        </a>
        <a href={officeLink('team', { courier: courierId })}>{t('couriers.manageUsers')}</a>
      </div>
      <Content of={users}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t('couriers.noUsers')} />
          ) : (
            <Table
              caption={t('couriers.users')}
              rows={rows}
              keyOf={({ user_id }) => user_id}
              columns={[
                {
                  title: t('login.username'),
                  cell: ({ username }) => (
                    <a class="mono" href={officeLink(['team', username])}>
                      {username}
                    </a>
                  ),
                },
                { title: t('office.name'), cell: ({ full_name }) => full_name },
                { title: t('office.email'), isExtra: true, cell: ({ email }) => email },
                { title: t('common.status'), cell: ({ is_active }) => <ActiveTag isActive={is_active} /> },
              ]}
            />
          )
        }
      </Content>
    </section>
  );
}
