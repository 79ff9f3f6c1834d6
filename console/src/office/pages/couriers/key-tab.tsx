import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content } from '../../../ui/parts.js';
import { ConfirmDialog, Secret, SecretDialog } from '../../ui/dialogs.js';
import type { TabProps } from '../courier-parts.js';

/** The API key of a courier's system. A new key ends the old one at once, and the question says so. */
export function KeyTab({ courier: { courier_id, courier_name } }: TabProps) {
  const settings = useLoad(
    async (signal) => (await api().couriers.settings({ id: courier_id }, { signal })).data,
    [courier_id],
  );
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<string>();
  return (
    <section class="card stack" aria-label={t('courierTab.key')}>
      <p>{t('courierKey.hint')}</p>
      <Content of={settings}>
        {({ api_key }) => (api_key ? <Secret text={api_key} /> : <p class="muted">{t('courierKey.none')}</p>)}
      </Content>
      <div class="actions">
        <button type="button" class="danger" onClick={() => setIsAsking(true)}>
          {t('courierKey.renew')}
        </button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('courierKey.renew')}
          effect={t('courierKey.effect', { name: courier_name })}
          action={t('courierKey.renew')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            setMade((await api().couriers.regenerateApiKey({ courier_id })).data.api_key);
            settings.reload();
          }}
        />
      )}
      {made !== undefined && (
        <SecretDialog
          title={t('courierKey.new')}
          secret={made}
          hint={t('courierKey.newHint')}
          onClose={() => setMade(undefined)}
        />
      )}
    </section>
  );
}
