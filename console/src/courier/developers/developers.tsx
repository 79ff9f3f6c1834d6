import { useState } from 'preact/hooks';
import type { CourierSettings } from '../../../../sdk/typescript/src/index.js';
import { CheckButton, endpointsOf } from '../../integration/check-button.js';
import { ConfirmDialog, Secret, SecretDialog } from '../../office/ui/dialogs.js';
import { api } from '../../session/session.js';
import { dateTime, t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { part } from '../../ui/part.js';
import { Content, Heading, Tag } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { PageTabs } from '../ui/page-tabs.js';

const Sandbox = part(async () => (await import('./sandbox-dialog.js')).SandboxDialog, { isOnUse: true });

/** The guides that a developer needs first. */
const GUIDES = [
  ['quick-start', 'dev.quickStart'],
  ['reference', 'dev.reference'],
  ['webhooks', 'dev.webhooks'],
  ['integration-check', 'integration.title'],
  ['sandbox', 'dev.sandboxGuide'],
  ['sdks', 'dev.sdks'],
  ['going-live', 'dev.goingLive'],
] as const;

/** What the courier's own system needs: its key, the secret of the webhooks, and the documentation. */
export function DevelopersPage() {
  const settings = useLoad(async (signal) => (await api().couriers.settings({}, { signal })).data, []);
  return (
    <>
      <Heading title={t('courierPage.developers')}>
        <SandboxButton />
        {settings.data && <CheckButton endpoints={endpointsOf(settings.data)} />}
      </Heading>
      <PageTabs of="developers" />
      <Content of={settings}>
        {(data) => (
          <div class="stack">
            <Key settings={data} onChanged={settings.reload} />
            <WebhookSecret settings={data} onChanged={settings.reload} />
          </div>
        )}
      </Content>
      <section class="section">
        <h2>{t('dev.docs')}</h2>
        <ul class="stack">
          {GUIDES.map(([path, text]) => (
            <li key={path}>
              <a href={`/docs/${path}`}>{t(text)}</a>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** A button that opens the sandbox of the courier. */
function SandboxButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        {t('dev.sandbox')}
      </button>
      {isOpen && <Sandbox onClose={() => setIsOpen(false)} />}
    </>
  );
}

type Props = { settings: CourierSettings; onChanged: () => void };

/** The API key is shown when the person asks for it. A new one ends it at once, and the question says so. */
function Key({ settings: { api_key }, onChanged }: Props) {
  const [isShown, setIsShown] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<string>();
  return (
    <section class="card stack" aria-label={t('courierTab.key')}>
      <div class="heading">
        <h2>{t('courierTab.key')}</h2>
        <Tag tint={api_key ? 'good' : 'plain'}>{t(api_key ? 'dev.keyActive' : 'dev.keyNone')}</Tag>
      </div>
      <p class="muted">
        {t('dev.keyHint')} <a href={linkTo('tokens')}>{t('tokens.title')}</a>
      </p>
      {api_key && isShown && <Secret text={api_key} />}
      {api_key && !isShown && <p class="mono">{`…${api_key.slice(-6)}`}</p>}
      <div class="actions">
        {api_key && (
          <button type="button" aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
            {t(isShown ? 'dev.hideKey' : 'dev.showKey')}
          </button>
        )}
        <button type="button" class="danger" onClick={() => setIsAsking(true)}>
          {t('courierKey.renew')}
        </button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('courierKey.renew')}
          effect={t(api_key ? 'dev.keyEffect' : 'dev.firstKeyEffect')}
          action={t('courierKey.renew')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            setMade((await api().couriers.regenerateApiKey({})).data.api_key);
            onChanged();
          }}
        />
      )}
      {made !== undefined && (
        <SecretDialog
          title={t('courierKey.new')}
          secret={made}
          hint={t('dev.keyNewHint')}
          onClose={() => setMade(undefined)}
        />
      )}
    </section>
  );
}

/** The secret of the signatures: rotate it, and end the previous one before its 24 hours are over. */
function WebhookSecret({ settings, onChanged }: Props) {
  const {
    webhook_secret,
    webhook_secret_rotated_at: rotatedAt,
    webhook_previous_secret_id: previous,
  } = settings;
  const [isShown, setIsShown] = useState(false);
  const [asking, setAsking] = useState<'rotate' | 'end'>();
  const [made, setMade] = useState<string>();
  const close = () => setAsking(undefined);
  return (
    <section class="card stack" aria-label={t('webhooks.secret')}>
      <h2>{t('webhooks.secret')}</h2>
      <p class="muted">
        {t('webhooks.secretHint')} <a href={linkTo('webhooks')}>{t('webhooks.deliveries')}</a>
      </p>
      {!webhook_secret && <p>{t('dev.secretNone')}</p>}
      {webhook_secret && isShown && <Secret text={webhook_secret} />}
      {previous && <p class="notice">{t('dev.previous', { at: rotatedAt ? dateTime(rotatedAt) : '–' })}</p>}
      <div class="actions">
        {webhook_secret && (
          <>
            <button type="button" aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
              {t(isShown ? 'dev.hideSecret' : 'dev.showSecret')}
            </button>
            <button type="button" class="danger" onClick={() => setAsking('rotate')}>
              {t('courierWebhooks.rotate')}
            </button>
          </>
        )}
        {previous && (
          <button type="button" class="danger" onClick={() => setAsking('end')}>
            {t('courierWebhooks.endPrevious')}
          </button>
        )}
      </div>
      {asking === 'rotate' && (
        <ConfirmDialog
          title={t('courierWebhooks.rotate')}
          effect={t(previous ? 'dev.rotateAgainEffect' : 'dev.rotateEffect')}
          action={t('courierWebhooks.rotate')}
          onClose={close}
          run={async () => {
            setMade((await api().couriers.rotateWebhookSecret({})).data.webhook_secret);
            onChanged();
          }}
        />
      )}
      {asking === 'end' && previous && (
        <ConfirmDialog
          title={t('courierWebhooks.endPrevious')}
          effect={t('courierWebhooks.endEffect')}
          action={t('courierWebhooks.endPrevious')}
          onClose={close}
          run={async () => {
            await api().couriers.endPreviousWebhookSecret({ webhook_previous_secret_id: previous });
            onChanged();
          }}
        />
      )}
      {made !== undefined && (
        <SecretDialog
          title={t('webhooks.secret')}
          secret={made}
          hint={t('dev.secretNewHint')}
          onClose={() => setMade(undefined)}
        />
      )}
    </section>
  );
}
