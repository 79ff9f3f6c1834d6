import { useState } from 'preact/hooks';
import type { Customer } from '../../../../sdk/typescript/src/index.js';
import { setActive } from '../../office/pages/customers/change.js';
import { CustomerDialog } from '../../office/pages/customers/edit.js';
import { ActiveTag } from '../../office/ui/active-tag.js';
import { ConfirmDialog } from '../../office/ui/dialogs.js';
import { FactList, Panel } from '../../office/ui/panel.js';
import { toast } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { dateTime, t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Content, Empty } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';

type Props = { code: string; closeLink: string; onChanged: () => void };

const MOST = 100;

/** A customer beside the list. Its address is its code. */
export function CustomerPanel({ code, closeLink, onChanged }: Props) {
  const found = useLoad(
    async (signal) => {
      const { data } = await api().customers.list(
        { search: code, limit: MOST, sort_by: 'user_code', sort_dir: 'ASC' },
        { signal },
      );
      return { customer: data.find(({ user_code }) => user_code === code) };
    },
    [code],
  );
  return (
    <Panel title={code} closeLink={closeLink}>
      <Content of={found}>
        {({ customer }) =>
          customer ? (
            <Details
              customer={customer}
              closeLink={closeLink}
              onChanged={() => {
                found.reload();
                onChanged();
              }}
            />
          ) : (
            <Empty title={t('customers.unknown', { code })}>{t('customers.unknownHint')}</Empty>
          )
        }
      </Content>
    </Panel>
  );
}

type DetailsProps = { customer: Customer; closeLink: string; onChanged: () => void };

function Details({ customer, closeLink, onChanged }: DetailsProps) {
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const { courier_customer_id, user_code, first_name, last_name, branch, is_active } = customer;
  const isActive = is_active === 1;
  const close = () => setOpened(undefined);
  return (
    <div class="stack">
      <p class="panel-name">
        {first_name} {last_name}
      </p>
      <FactList
        facts={[
          [t('common.status'), <ActiveTag key="status" isActive={isActive} />],
          [t('customers.branch'), branch],
          [t('office.created'), dateTime(customer.created_at)],
          [t('office.changed'), dateTime(customer.updated_at)],
        ]}
      />
      <div class="actions">
        <button type="button" class="primary" onClick={() => setOpened('edit')}>
          {t('office.edit')}
        </button>
        <button type="button" onClick={() => void setActive([customer], !isActive, onChanged)}>
          {t(isActive ? 'office.deactivate' : 'office.activate')}
        </button>
        <a class="button" href={linkTo('parcels', undefined, { search: user_code })}>
          {t('customers.parcels')}
        </a>
        <a class="button" href={linkTo('announce', undefined, { search: user_code })}>
          {t('announce.list')}
        </a>
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          {t('office.delete')}
        </button>
      </div>
      {opened === 'edit' && (
        <CustomerDialog
          customer={customer}
          onClose={close}
          onDone={(code) => {
            close();
            const { query } = route.value;
            // Its address is its code.
            if (code !== user_code) openAddress(linkTo('customers', code, query), { isSame: true });
            onChanged();
          }}
        />
      )}
      {opened === 'delete' && (
        <ConfirmDialog
          title={t('customers.deleteTitle', { code: user_code })}
          effect={t('customers.deleteEffect', { name: `${first_name} ${last_name}` })}
          action={t('customers.deleteAction')}
          onClose={close}
          run={async () => {
            await api().customers.delete({ courier_customer_id });
            toast(t('customers.deleted', { code: user_code }));
            openAddress(closeLink);
            onChanged();
          }}
        />
      )}
    </div>
  );
}
