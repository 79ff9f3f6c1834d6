import { CustomerSearch, type Customer } from '../../staff/customer-search.js';
import { t } from '../../texts/texts.js';

type Props = { label: string; customer: Customer | undefined; onChoose: (customer?: Customer) => void };

/** Finds a customer, and shows the one that was chosen. */
export const CustomerChoice = ({ label, customer, onChoose }: Props) =>
  customer ? (
    <p class="chosen">
      <span class="strong">{customer.user_code}</span> {customer.first_name} {customer.last_name}{' '}
      <button type="button" class="quiet" onClick={() => onChoose()}>
        {t('announce.otherCustomer')}
      </button>
    </p>
  ) : (
    <CustomerSearch label={label} onChoose={onChoose} />
  );
