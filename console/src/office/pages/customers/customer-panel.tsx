import { useState } from 'preact/hooks';
import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { setActive } from './change.js';
import { CustomerDialog } from './edit.js';

type Props = {
  code: string;
  /** Couriers may use the same codes. */
  courierId: string | undefined;
  closeLink: string;
  onChanged: () => void;
};

const MOST = 100;

/** A customer beside the list. Its address is its code. */
export function CustomerPanel({ code, courierId, closeLink, onChanged }: Props) {
  const customers = useLoad(
    async (signal) => {
      const { data } = await api().customers.list(
        {
          search: code,
          limit: MOST,
          sort_by: 'user_code',
          sort_dir: 'ASC',
          ...(courierId ? { courier_id: courierId } : {}),
        },
        { signal },
      );
      return data.filter(({ user_code }) => user_code === code);
    },
    [code, courierId],
  );
  const changed = () => {
    customers.reload();
    onChanged();
  };
  return (
    <Panel title={code} closeLink={closeLink}>
      <Content of={customers}>
        {([first, ...others]) =>
          first === undefined ? (
            <Empty title={t('customers.unknown', { code })}>{t('customers.unknownHint')}</Empty>
          ) : others.length > 0 ? (
            <div class="stack">
              <p>{t('customers.several', { code })}</p>
              <ul class="stack">
                {[first, ...others].map(({ courier_id, courier_name, first_name, last_name }) => (
                  <li key={courier_id}>
                    <a href={officeLink(['customers', code], { of: courier_id })}>
                      {courier_name}: {first_name} {last_name}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ) : (
            <Details customer={first} closeLink={closeLink} onChanged={changed} />
          )
        }
      </Content>
    </Panel>
  );
}

type DetailsProps = { customer: Customer; closeLink: string; onChanged: () => void };

function Details({ customer, closeLink, onChanged }: DetailsProps) {
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const { courier_customer_id, user_code, first_name, last_name, branch, is_active, courier_name } = customer;
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
          [t('common.courier'), courier_name],
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
        <a class="button" href={officeLink('parcels', { customer: user_code, courier: customer.courier_id })}>
          {t('customers.parcels')}
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
            const query = officeAddress.value?.query ?? {};
            // Its address is its code.
            if (code !== user_code) openAddress(officeLink(['customers', code], query), { isSame: true });
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
