import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { toast, toastFailure } from '../../ui/toasts.js';

/** Deactivates or activates customers, one after the other. The toast can undo those that were changed, also if one has failed. */
export async function setActive(rows: Customer[], isActive: boolean, onChanged: () => void): Promise<void> {
  const changed: Customer[] = [];
  const change = (row: Customer, active: boolean) =>
    api().customers.update({ courier_customer_id: row.courier_customer_id, is_active: active ? 1 : 0 });
  const undo = async () => {
    for (const row of changed) await change(row, !isActive);
    onChanged();
  };
  try {
    for (const row of rows) {
      await change(row, isActive);
      changed.push(row);
    }
  } catch (error) {
    toastFailure(error);
  }
  onChanged();
  if (changed.length > 0)
    toast(t(isActive ? 'customers.activated' : 'customers.deactivated', { count: changed.length }), undo);
}
