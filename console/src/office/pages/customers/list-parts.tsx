import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { PAGE_SIZE } from '../../list/listed.js';
import { orderOf, type ListState } from '../../list/state.js';
import type { ListColumn } from '../../list/table.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { ExportDialog } from '../../ui/export-dialog.js';

/** The columns of a list of customers. @param linkOf returns the address of a customer */
export const customerColumns = (linkOf: (customer: Customer) => string): ListColumn<Customer>[] => [
  {
    id: 'user_code',
    title: t('customers.code'),
    cell: (row) => (
      <a class="mono strong" href={linkOf(row)}>
        {row.user_code}
      </a>
    ),
    text: ({ user_code }) => user_code,
    sortBy: 'user_code',
  },
  {
    id: 'first_name',
    title: t('customers.firstName'),
    cell: ({ first_name }) => first_name,
    text: ({ first_name }) => first_name,
    sortBy: 'first_name',
  },
  {
    id: 'last_name',
    title: t('customers.lastName'),
    cell: ({ last_name }) => last_name,
    text: ({ last_name }) => last_name,
    sortBy: 'last_name',
  },
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name,
    sortBy: 'courier_name',
  },
  {
    id: 'branch',
    title: t('customers.branch'),
    cell: ({ branch }) => branch,
    text: ({ branch }) => branch ?? '',
    sortBy: 'branch',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ is_active }) => <ActiveTag isActive={is_active === 1} />,
    text: ({ is_active }) => t(is_active === 1 ? 'office.active' : 'office.inactive'),
  },
  {
    id: 'updated_at',
    title: t('office.changed'),
    cell: ({ updated_at }) => dateTime(updated_at),
    text: ({ updated_at }) => updated_at,
    sortBy: 'updated_at',
  },
  {
    id: 'created_at',
    title: t('office.created'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
    isHidden: true,
  },
];

/** Returns what the address of a list of customers says, for the list and its export. */
const searchOf = ({ search, filters, sort }: ListState) => ({
  ...(search ? { search } : {}),
  ...(filters['courier'] ? { courier_id: filters['courier'] } : {}),
  ...(filters['branch'] ? { branch: filters['branch'] } : {}),
  ...orderOf(sort),
});

/** Loads the customers of a list. */
export async function loadCustomers(state: ListState, signal: AbortSignal) {
  const query = { page: state.page, limit: PAGE_SIZE, ...searchOf(state) };
  const { data, total } = await api().customers.list(query, { signal });
  return { rows: data, total };
}

type ExportProps = { state: ListState; total: number; onClose: () => void };

/** Files of all customers that a list finds. */
export const CustomersExport = ({ state, total, onClose }: ExportProps) => (
  <ExportDialog
    name="customers"
    hint={t('customers.exportHint', { count: total })}
    total={total}
    load={(format, part) => {
      const query = { ...searchOf(state), ...part };
      return format === 'csv' ? api().customers.exportCsv(query) : api().customers.exportXlsx(query);
    }}
    onClose={onClose}
  />
);
