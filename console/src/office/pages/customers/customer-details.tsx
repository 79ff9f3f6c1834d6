import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api, session } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { openAddress } from '../../../ui/router.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { setActive } from './change.js';
import { CustomerDialog } from './edit.js';

type Props = {
  customer: Customer;
  /** Links to what belongs to the customer. */
  links: ComponentChildren;
  /** Returns the address of the customer with another code. */
  linkOf: (code: string) => string;
  closeLink: string;
  onChanged: () => void;
};

/** What is known about a customer, and its changes. */
export function CustomerDetails({ customer, links, linkOf, closeLink, onChanged }: Props) {
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
          [t('common.courier'), session.value?.user.courier_id === null && courier_name],
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
        {links}
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
            // Its address is its code.
            if (code !== user_code) openAddress(linkOf(code), { isSame: true });
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
