import type { TabProps } from '../../office/pages/courier-parts.js';
import { TokenList } from './token-list.js';

/** The service tokens of a courier, for staff who help its developers. */
export const CourierTokensTab = ({ courier: { courier_id } }: TabProps) => (
  <div class="stack">
    <TokenList of={{ courierId: courier_id }} />
  </div>
);

/** The service tokens of the warehouse's own systems, for administrators. */
export const StaffTokensTab = () => (
  <div class="stack">
    <TokenList of="staff" />
  </div>
);
