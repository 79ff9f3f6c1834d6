import { useState } from 'preact/hooks';
import { api } from '../session/session.js';
import { CustomerSearch, type Customer } from '../staff/customer-search.js';
import { t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Dialog, Problem } from '../ui/parts.js';

export type Ownerless = { package_id: string; house_number: string; tracking_number: string };

type Props = { parcel: Ownerless; onClose: () => void; onDone: (customer: Customer) => void };

/** Gives a package without an owner a customer. */
export function OwnerDialog({ parcel, onClose, onDone }: Props) {
  const [customer, setCustomer] = useState<Customer>();
  const save = useAction(async ({ user_code }: Customer) => {
    await api().packages.update({ package_id: parcel.package_id, user_code });
    if (customer) onDone(customer);
  });
  return (
    <Dialog title={`${parcel.house_number} · ${parcel.tracking_number}`} onClose={onClose}>
      <div class="stack">
        {customer ? <ChosenCustomer of={customer} onOther={() => setCustomer(undefined)} /> : null}
        {!customer && <CustomerSearch label={t('receive.customer')} onChoose={setCustomer} />}
        <Problem text={save.error} />
        {customer && (
          <div class="actions">
            <button type="button" class="primary" disabled={save.isBusy} onClick={() => save.run(customer)}>
              {t('owner.save')}
            </button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

/** Says that a package has no owner, and lets the person give it one. */
export function GiveOwner({ parcel }: { parcel: Ownerless }) {
  const [isOpen, setIsOpen] = useState(false);
  const [owner, setOwner] = useState<string>();
  return (
    <div class={owner ? 'success' : 'notice'} role="status">
      {owner
        ? t('owner.given', { package: parcel.house_number, customer: owner })
        : t('receive.packageNoOwner')}{' '}
      {!owner && (
        <button type="button" class="quiet" onClick={() => setIsOpen(true)}>
          {t('owner.give')}
        </button>
      )}
      {isOpen && (
        <OwnerDialog
          parcel={parcel}
          onClose={() => setIsOpen(false)}
          onDone={({ user_code }) => {
            setIsOpen(false);
            setOwner(user_code);
          }}
        />
      )}
    </div>
  );
}

export const ChosenCustomer = ({ of, onOther }: { of: Customer; onOther: () => void }) => (
  <p>
    <strong>{of.user_code}</strong> {of.first_name} {of.last_name}{' '}
    <span class="muted">{of.courier_name}</span>{' '}
    <button type="button" class="quiet" onClick={onOther}>
      {t('receive.otherCustomer')}
    </button>
  </p>
);
