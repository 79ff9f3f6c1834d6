import { useState } from 'preact/hooks';
import type { Warehouse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, number, t } from '../../../texts/texts.js';
import { Tag } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { WarehouseDialog } from './warehouse-dialog.js';
import { WarehousePanel } from './warehouse-panel.js';

const addressOf = ({ address, city, country }: Warehouse) =>
  [address, city, country].filter(Boolean).join(', ');

const columns = (): ListColumn<Warehouse>[] => [
  {
    id: 'name',
    title: t('office.name'),
    cell: ({ warehouse_id, name, is_primary }) => (
      <>
        <a class="strong" href={officeLink(['settings', 'warehouses'], { of: warehouse_id })}>
          {name}
        </a>{' '}
        {is_primary && <Tag tint="good">{t('warehouse.primary')}</Tag>}
      </>
    ),
    text: ({ name }) => name,
  },
  { id: 'address', title: t('couriers.address'), cell: addressOf, text: addressOf },
  {
    id: 'gate',
    title: t('warehouse.gate'),
    cell: ({ loading_gate }) => <GateTag isOn={loading_gate} />,
    text: ({ loading_gate }) => t(loading_gate ? 'warehouse.gateOn' : 'warehouse.gateOff'),
  },
  {
    id: 'weight',
    title: t('warehouse.weight'),
    cell: ({ weight_question_lb }) => number(weight_question_lb),
    text: ({ weight_question_lb }) => weight_question_lb,
    isNumber: true,
  },
  {
    id: 'phone',
    title: t('couriers.phone'),
    cell: ({ phone }) => phone,
    text: ({ phone }) => phone ?? '',
    isHidden: true,
  },
  {
    id: 'email',
    title: t('office.email'),
    cell: ({ email }) => email,
    text: ({ email }) => email ?? '',
    isHidden: true,
  },
  {
    id: 'created_at',
    title: t('office.created'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    isHidden: true,
  },
];

const GateTag = ({ isOn }: { isOn: boolean }) => (
  <Tag tint={isOn ? 'good' : 'plain'}>{t(isOn ? 'warehouse.gateOn' : 'warehouse.gateOff')}</Tag>
);

async function load({ page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().warehouses.list({ page, limit: PAGE_SIZE }, { signal });
  return { rows: data, total: meta.total_records };
}

/** The warehouses, each with its loading gate. The address of one has its id. */
export function WarehousesTab() {
  const list = useList('settings', load);
  const { address, loaded } = list;
  const query = officeAddress.value?.query;
  const id = query?.get('of');
  const isWanted = query?.get('new') === 'warehouse';
  const [isOpened, setIsOpened] = useState(false);
  const shown = loaded.data?.rows.find(({ warehouse_id }) => warehouse_id === id);
  const closeLink = address.linkTo('warehouses');
  const close = () => {
    setIsOpened(false);
    if (isWanted) openAddress(closeLink, { isSame: true });
  };
  return (
    <>
      <div class="actions tab-actions">
        <button type="button" class="primary" onClick={() => setIsOpened(true)}>
          {t('warehouse.new')}
        </button>
      </div>
      <DataList
        page="settings/warehouses"
        title={t('settingsTab.warehouses')}
        of={list}
        columns={columns()}
        keyOf={({ warehouse_id }) => warehouse_id}
        nameOf={({ name }) => name}
        onOpen={({ warehouse_id }) => openAddress(address.linkTo('warehouses', { of: warehouse_id }))}
        isOpen={({ warehouse_id }) => warehouse_id === id}
        empty={{ title: t('warehouse.none'), hint: t('warehouse.noneHint') }}
        panel={
          shown && (
            <WarehousePanel
              key={shown.warehouse_id}
              warehouse={shown}
              primary={loaded.data?.rows.find(({ is_primary }) => is_primary)}
              closeLink={closeLink}
              onChanged={loaded.reload}
            />
          )
        }
      />
      {(isOpened || isWanted) && (
        <WarehouseDialog
          onClose={close}
          onDone={() => {
            close();
            loaded.reload();
          }}
          onUndone={loaded.reload}
        />
      )}
    </>
  );
}
