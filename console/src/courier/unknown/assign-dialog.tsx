import { useState } from 'preact/hooks';
import { ApiError } from '../../../../sdk/typescript/src/index.js';
import { FormDialog } from '../../office/ui/dialogs.js';
import { toast } from '../../office/ui/toasts.js';
import { api, messageOf } from '../../session/session.js';
import type { Customer } from '../../staff/customer-search.js';
import { t } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { Problem } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { CustomerChoice } from '../ui/customer-choice.js';

type Parcel = { package_id: string; house_number: string };

type Props = { parcel: Parcel; onClose: () => void; onDone: () => void };

/** Says whose a parcel of the courier's account is. The courier cannot take the customer away again, so the dialog says so first. */
export function AssignDialog({ parcel: { package_id, house_number }, onClose, onDone }: Props) {
  const [customer, setCustomer] = useState<Customer>();
  const [isDisputed, setIsDisputed] = useState(false);
  const assign = useAction(async () => {
    if (!customer) throw new Error(t('announce.chooseCustomer'));
    const { user_code, first_name, last_name } = customer;
    setIsDisputed(false);
    try {
      // The names on the parcel would stay without these.
      await api().packages.update({ package_id, user_code, first_name, last_name });
    } catch (error) {
      setIsDisputed(error instanceof ApiError && error.code === 'parcel_disputed');
      throw new Error(messageOf(error), { cause: error });
    }
    toast(t('myUnknown.assigned', { house: house_number, customer: user_code }));
    onDone();
  });
  return (
    <FormDialog title={t('myUnknown.assignTitle', { house: house_number })} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          assign.run();
        }}
      >
        <CustomerChoice label={t('common.customer')} customer={customer} onChoose={setCustomer} />
        <p>{t('myUnknown.assignEffect')}</p>
        <Problem text={assign.error} />
        {isDisputed && (
          <p>
            {t('myUnknown.disputed')}{' '}
            <a href={linkTo('claims', undefined, { new: 'claim' })}>{t('myClaim.new')}</a>
          </p>
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={!customer || assign.isBusy}>
            {customer ? t('myUnknown.assignTo', { customer: customer.user_code }) : t('myUnknown.assign')}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </form>
    </FormDialog>
  );
}
