import { useState } from 'preact/hooks';
import type { Carrier } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { ConfirmDialog, FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';

const columns = (): ListColumn<Carrier>[] => [
  {
    id: 'name',
    title: t('office.name'),
    cell: ({ carrier_id, name }) => (
      <a class="strong" href={officeLink(['settings', 'carriers'], { of: carrier_id })}>
        {name}
      </a>
    ),
    text: ({ name }) => name,
  },
];

async function load({ page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().carriers.list({ page, limit: PAGE_SIZE }, { signal });
  return { rows: data, total: meta.total_records };
}

/** The carriers that bring parcels. */
export function CarriersTab() {
  const list = useList('settings', load);
  const { address, loaded } = list;
  const query = officeAddress.value?.query;
  const id = query?.get('of');
  const isWanted = query?.get('new') === 'carrier';
  const [opened, setOpened] = useState<'new' | 'rename' | 'delete'>();
  const shown = loaded.data?.rows.find(({ carrier_id }) => carrier_id === id);
  const closeLink = address.linkTo('carriers');
  const close = () => {
    setOpened(undefined);
    if (isWanted) openAddress(closeLink, { isSame: true });
  };
  const done = () => {
    close();
    loaded.reload();
  };
  return (
    <>
      <div class="actions tab-actions">
        <button type="button" class="primary" onClick={() => setOpened('new')}>
          {t('carrier.new')}
        </button>
      </div>
      <DataList
        page="settings/carriers"
        title={t('settingsTab.carriers')}
        of={list}
        columns={columns()}
        keyOf={({ carrier_id }) => carrier_id}
        nameOf={({ name }) => name}
        onOpen={({ carrier_id }) => openAddress(address.linkTo('carriers', { of: carrier_id }))}
        isOpen={({ carrier_id }) => carrier_id === id}
        empty={{ title: t('carrier.none'), hint: t('carrier.noneHint') }}
        panel={
          shown && (
            <Panel key={shown.carrier_id} title={shown.name} closeLink={closeLink}>
              <div class="stack">
                <p class="muted">{t('carrier.hint')}</p>
                <div class="actions">
                  <button type="button" class="primary" onClick={() => setOpened('rename')}>
                    {t('carrier.rename')}
                  </button>
                  <button type="button" class="danger" onClick={() => setOpened('delete')}>
                    {t('office.delete')}
                  </button>
                </div>
              </div>
            </Panel>
          )
        }
      />
      {(opened === 'new' || isWanted) && (
        <CarrierDialog onClose={close} onDone={done} onUndone={loaded.reload} />
      )}
      {opened === 'rename' && shown && (
        <CarrierDialog carrier={shown} onClose={close} onDone={done} onUndone={loaded.reload} />
      )}
      {opened === 'delete' && shown && (
        <ConfirmDialog
          title={t('carrier.deleteTitle', { name: shown.name })}
          effect={t('carrier.deleteEffect', { name: shown.name })}
          action={t('carrier.deleteAction')}
          onClose={close}
          run={async () => {
            await api().carriers.manage({ action: 'delete', carrier_id: shown.carrier_id });
            toast(t('settings.deleted', { name: shown.name }));
            openAddress(closeLink);
            loaded.reload();
          }}
        />
      )}
    </>
  );
}

type DialogProps = {
  /** The carrier to rename. Without it, a new one is created. */
  carrier?: Carrier;
  onClose: () => void;
  onDone: () => void;
  onUndone: () => void;
};

/** Undo deletes the new carrier, or gives it its name back. */
function CarrierDialog({ carrier, onClose, onDone, onUndone }: DialogProps) {
  const form = useForm(
    { name: carrier?.name ?? '' },
    async ({ name: typed }) => {
      const name = typed.trim();
      const { data } = await api().carriers.manage(
        carrier ? { action: 'rename', carrier_id: carrier.carrier_id, name } : { action: 'create', name },
      );
      const { carrier_id } = data;
      toast(t(carrier ? 'office.saved' : 'settings.created', { name }), async () => {
        await api().carriers.manage(
          carrier ? { action: 'rename', carrier_id, name: carrier.name } : { action: 'delete', carrier_id },
        );
        onUndone();
      });
      onDone();
    },
    { fieldOf: { duplicate_carrier_name: 'name' } },
  );
  return (
    <FormDialog title={t(carrier ? 'carrier.rename' : 'carrier.new')} onClose={onClose}>
      <Form of={form} submit={t(carrier ? 'office.save' : 'office.create')}>
        <Text
          of={form}
          name="name"
          label={t('office.name')}
          hint={carrier && t('carrier.renameHint')}
          maxLength={100}
          isRequired
        />
      </Form>
    </FormDialog>
  );
}
