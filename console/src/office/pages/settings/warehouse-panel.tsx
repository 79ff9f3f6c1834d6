import { useState } from 'preact/hooks';
import type { Warehouse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, number, t } from '../../../texts/texts.js';
import { openAddress } from '../../../ui/router.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast, toastFailure } from '../../ui/toasts.js';
import { WarehouseDialog } from './warehouse-dialog.js';

type Props = {
  warehouse: Warehouse;
  /** The present primary warehouse. */
  primary: Warehouse | undefined;
  closeLink: string;
  onChanged: () => void;
};

/** A warehouse beside the list, with the switch of its loading gate. */
export function WarehousePanel({ warehouse, primary, closeLink, onChanged }: Props) {
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const { warehouse_id, name, is_primary, loading_gate } = warehouse;
  const close = () => setOpened(undefined);
  const makePrimary = (id: string) =>
    api().warehouses.manage({ action: 'make_primary', warehouse_id: id }).then(onChanged);
  const setGate = (isOn: boolean) =>
    api().warehouses.manage({ action: 'update', warehouse_id, loading_gate: isOn }).then(onChanged);
  const onPrimary = () =>
    makePrimary(warehouse_id).then(
      () => toast(t('warehouse.isPrimary', { name }), primary && (() => makePrimary(primary.warehouse_id))),
      toastFailure,
    );
  const onGate = () =>
    setGate(!loading_gate).then(
      () =>
        toast(t(loading_gate ? 'warehouse.gateIsOff' : 'warehouse.gateIsOn', { name }), () =>
          setGate(loading_gate),
        ),
      toastFailure,
    );
  return (
    <Panel title={name} closeLink={closeLink}>
      <div class="stack">
        <FactList
          facts={[
            [t('couriers.address'), warehouse.address],
            [t('couriers.city'), warehouse.city],
            [t('warehouse.country'), warehouse.country],
            [t('couriers.phone'), warehouse.phone],
            [t('office.email'), warehouse.email],
            [t('warehouse.weight'), number(warehouse.weight_question_lb)],
            [t('office.created'), dateTime(warehouse.created_at)],
          ]}
        />
        <label class="check">
          <input type="checkbox" checked={loading_gate} onChange={() => void onGate()} />
          {t('warehouse.gate')}
        </label>
        <p class="field-hint">{t('warehouse.gateHint')}</p>
        {is_primary && <p class="muted">{t('warehouse.primaryHint')}</p>}
        <div class="actions">
          <button type="button" class="primary" onClick={() => setOpened('edit')}>
            {t('office.edit')}
          </button>
          {!is_primary && (
            <>
              <button type="button" onClick={() => void onPrimary()}>
                {t('warehouse.makePrimary')}
              </button>
              <button type="button" class="danger" onClick={() => setOpened('delete')}>
                {t('office.delete')}
              </button>
            </>
          )}
        </div>
      </div>
      {opened === 'edit' && (
        <WarehouseDialog
          warehouse={warehouse}
          onClose={close}
          onDone={() => {
            close();
            onChanged();
          }}
          onUndone={onChanged}
        />
      )}
      {opened === 'delete' && (
        <ConfirmDialog
          title={t('warehouse.deleteTitle', { name })}
          effect={t('warehouse.deleteEffect', { name })}
          action={t('warehouse.deleteAction')}
          onClose={close}
          run={async () => {
            await api().warehouses.manage({ action: 'delete', warehouse_id });
            toast(t('settings.deleted', { name }));
            openAddress(closeLink);
            onChanged();
          }}
        />
      )}
    </Panel>
  );
}
