import { useState } from 'preact/hooks';
import type { Sandbox, SandboxCredentials } from '../../../../sdk/typescript/src/index.js';
import { ConfirmDialog, Secret } from '../../office/ui/dialogs.js';
import { api } from '../../session/session.js';
import { addTexts, dateTime, t } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Content, Problem } from '../../ui/parts.js';
import { Lives } from './lives.js';
import { sandboxTexts } from './texts.js';

addTexts(sandboxTexts);

type Credentials = NonNullable<SandboxCredentials>;

/**
 * Makes, shows and ends the sandbox of a courier. Its credentials are on the screen only until the panel goes.
 *
 * @param props the courier, for staff
 */
export function SandboxPanel({ courierId }: { courierId?: string }) {
  const ofCourier = courierId ? { courier_id: courierId } : {};
  const present = useLoad(
    async (signal) => (await api().couriers.sandbox(ofCourier, { signal })).data,
    [courierId],
  );
  const [made, setMade] = useState<Credentials>();
  const [isAsking, setIsAsking] = useState(false);
  const create = useAction(async () => {
    const { credentials } = (await api().couriers.manageSandbox({ action: 'create', ...ofCourier })).data;
    setMade(credentials ?? undefined);
    present.reload();
  });
  return (
    <div class="stack" data-testid="sandbox">
      <p>{t('sandbox.lead')}</p>
      <Problem text={create.error} />
      <Content of={present}>
        {({ sandbox, state }) =>
          sandbox ? (
            <>
              <Present sandbox={sandbox} made={made} />
              {state && <Lives state={state} onReload={present.reload} />}
              <div class="actions">
                <button type="button" class="danger" onClick={() => setIsAsking(true)}>
                  {t('sandbox.end')}
                </button>
              </div>
            </>
          ) : (
            <>
              <p class="muted">{t(courierId ? 'sandbox.courierNone' : 'sandbox.none')}</p>
              <div class="actions">
                <button type="button" class="primary" disabled={create.isBusy} onClick={() => create.run()}>
                  {t('sandbox.create')}
                </button>
              </div>
            </>
          )
        }
      </Content>
      <a href="/docs/sandbox" target="_blank" rel="noreferrer">
        {t('sandbox.docs')}
      </a>
      <a href="/docs/sandbox-lives" target="_blank" rel="noreferrer">
        {t('sandbox.lives')}
      </a>
      {isAsking && (
        <ConfirmDialog
          title={t('sandbox.end')}
          effect={t('sandbox.effect')}
          action={t('sandbox.end')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            await api().couriers.manageSandbox({ action: 'end', ...ofCourier });
            setMade(undefined);
            present.reload();
          }}
        />
      )}
    </div>
  );
}

type PresentProps = { sandbox: Sandbox; made: Credentials | undefined };

const Present = ({ sandbox: { base_path: path, created_at: createdAt }, made }: PresentProps) => (
  <>
    {made && <p role="status">{t('sandbox.made')}</p>}
    <Shown label={t('sandbox.url')} text={location.origin + path} />
    {made && (
      <>
        <Shown label={t('sandbox.key')} text={made.api_key} />
        <Shown label={t('sandbox.token')} text={made.service_token} />
        <p>{t('sandbox.codes', { codes: made.user_codes.join(', ') })}</p>
      </>
    )}
    <p class="muted">{t('sandbox.since', { at: dateTime(createdAt) })}</p>
  </>
);

const Shown = ({ label, text }: { label: string; text: string }) => (
  <section aria-label={label}>
    <h3>{label}</h3>
    <Secret text={text} />
  </section>
);
