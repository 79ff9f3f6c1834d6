import { useState } from 'preact/hooks';
import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { useList } from '../../list/listed.js';
import { setActive } from './change.js';
import { CustomerPanel } from './customer-panel.js';
import { CustomerDialog } from './edit.js';
import { ImportDialog } from './import.js';
import { customerColumns, CustomersExport, loadCustomers } from './list-parts.js';

const linkOf = ({ user_code, courier_id }: Customer) =>
  officeLink(['customers', user_code], { of: courier_id });

type Opened = 'customer' | 'import' | 'export' | undefined;

/** The customers of all couriers: search, edit, deactivate and import. */
export function CustomersPage() {
  const list = useList('customers', loadCustomers);
  const { address, loaded } = list;
  const at = officeAddress.value;
  const code = at?.argument;
  const courier = at?.query.get('of') ?? undefined;
  const couriers = useCouriers();
  const chosenCourier = address.state.filters['courier'];
  const branches = useLoad(
    async (signal) =>
      (await api().customers.branches(chosenCourier ? { courier_id: chosenCourier } : {}, { signal })).data,
    [chosenCourier],
  );
  // An action of the palette, whose address opens a dialog.
  const wanted = at?.query.get('new');
  const [opened, setOpened] = useState<Opened>();
  const dialog = opened ?? (wanted === 'customer' || wanted === 'import' ? wanted : undefined);
  const close = () => {
    setOpened(undefined);
    if (wanted) openAddress(address.linkTo(code), { isSame: true });
  };
  const done = () => {
    close();
    loaded.reload();
  };
  const toActive = (isActive: boolean) => (rows: Customer[]) => void setActive(rows, isActive, loaded.reload);
  return (
    <>
      <Heading title={t('customers.title')}>
        <button type="button" disabled={!loaded.data?.rows.length} onClick={() => setOpened('export')}>
          {t('officeParcels.export')}
        </button>
        <button type="button" onClick={() => setOpened('import')}>
          {t('customers.import')}
        </button>
        <button type="button" class="primary" onClick={() => setOpened('customer')}>
          {t('customers.new')}
        </button>
      </Heading>
      <DataList
        page="customers"
        title={t('customers.title')}
        of={list}
        columns={customerColumns(linkOf)}
        keyOf={({ courier_customer_id }) => courier_customer_id}
        nameOf={({ user_code }) => user_code}
        onOpen={(row) => openAddress(address.linkTo(row.user_code, { of: row.courier_id }))}
        isOpen={(row) => row.user_code === code && (courier === undefined || row.courier_id === courier)}
        search={{ label: t('customers.search') }}
        filters={[
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
          {
            name: 'branch',
            label: t('customers.branch'),
            options: (branches.data ?? []).map((name) => [name, name]),
          },
        ]}
        bulk={[
          { label: t('office.deactivate'), suits: ({ is_active }) => is_active === 1, run: toActive(false) },
          { label: t('office.activate'), suits: ({ is_active }) => is_active === 0, run: toActive(true) },
        ]}
        empty={{ title: t('customers.none'), hint: t('customers.noneHint') }}
        panel={
          code && (
            <CustomerPanel
              key={`${code} ${courier}`}
              code={code}
              courierId={courier}
              closeLink={address.linkTo()}
              onChanged={loaded.reload}
            />
          )
        }
      />
      {dialog === 'customer' && (
        <CustomerDialog couriers={couriers.data ?? []} onClose={close} onDone={done} />
      )}
      {dialog === 'export' && (
        <CustomersExport state={address.state} total={loaded.data?.total ?? 0} onClose={close} />
      )}
      {dialog === 'import' && <ImportDialog couriers={couriers.data ?? []} onClose={close} onDone={done} />}
    </>
  );
}
