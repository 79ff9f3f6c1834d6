import { useState } from 'preact/hooks';
import type { Customer } from '../../../../sdk/typescript/src/index.js';
import { DataList } from '../../office/list/data-list.js';
import { useHashList } from '../../office/list/listed.js';
import { setActive } from '../../office/pages/customers/change.js';
import { CustomerDialog } from '../../office/pages/customers/edit.js';
import { ImportDialog } from '../../office/pages/customers/import.js';
import { customerColumns, CustomersExport, loadCustomers } from '../../office/pages/customers/list-parts.js';
import { api, session } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { PageTabs } from '../ui/page-tabs.js';
import { CustomerPanel } from './customer-panel.js';
import { useWanted } from '../ui/wanted.js';

const columns = () =>
  customerColumns(({ user_code }) => linkTo('customers', user_code)).filter(({ id }) => id !== 'courier');

/** The customers of a courier: search, edit, deactivate and import. */
export function CustomersPage() {
  const list = useHashList('customers', loadCustomers);
  const { address, loaded } = list;
  const code = route.value.argument;
  const courierId = session.value?.user.courier_id ?? '';
  const branches = useLoad(async (signal) => (await api().customers.branches({}, { signal })).data, []);
  const { opened, open, close } = useWanted(['customer', 'import'], address.linkTo());
  const [isExporting, setIsExporting] = useState(false);
  const done = () => {
    close();
    loaded.reload();
  };
  const toActive = (isActive: boolean) => (rows: Customer[]) => void setActive(rows, isActive, loaded.reload);
  return (
    <>
      <Heading title={t('courierPage.customers')}>
        <button type="button" disabled={!loaded.data?.rows.length} onClick={() => setIsExporting(true)}>
          {t('officeParcels.export')}
        </button>
        <button type="button" onClick={() => open('import')}>
          {t('customers.import')}
        </button>
        <button type="button" class="primary" onClick={() => open('customer')}>
          {t('customers.new')}
        </button>
      </Heading>
      <PageTabs of="customers" />
      <DataList
        page="my-customers"
        title={t('courierPage.customers')}
        of={list}
        columns={columns()}
        keyOf={({ courier_customer_id }) => courier_customer_id}
        nameOf={({ user_code }) => user_code}
        onOpen={({ user_code }) => openAddress(address.linkTo(user_code))}
        isOpen={({ user_code }) => user_code === code}
        search={{ label: t('customers.search') }}
        filters={[
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
        empty={{ title: t('customers.none'), hint: t('myCustomers.noneHint') }}
        panel={
          code && (
            <CustomerPanel key={code} code={code} closeLink={address.linkTo()} onChanged={loaded.reload} />
          )
        }
      />
      {opened === 'customer' && <CustomerDialog courierId={courierId} onClose={close} onDone={done} />}
      {isExporting && (
        <CustomersExport
          state={address.state}
          total={loaded.data?.total ?? 0}
          onClose={() => setIsExporting(false)}
        />
      )}
      {opened === 'import' && <ImportDialog courierId={courierId} onClose={close} onDone={done} />}
    </>
  );
}
