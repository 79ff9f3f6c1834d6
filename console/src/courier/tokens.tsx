import { useState } from 'preact/hooks';
import type { ServiceToken, ServiceTokenScope } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { dateTime, t, textOf } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Choice, Content, Dialog, Empty, Field, Heading, Problem, Table } from '../ui/parts.js';
import { single } from '../device/single.js';
import { linkTo } from '../ui/router.js';
import { PageTabs } from './ui/page-tabs.js';
import { useWanted } from './ui/wanted.js';

/** A courier has at most 20 active ones. */
const SHOWN = 50;
/** Those of a courier. */
const SCOPES = [
  'packages:read',
  'prealerts:write',
  'customers:write',
  'webhooks:manage',
  'bills:read',
] as const satisfies ServiceTokenScope[];
const DAYS = ['30', '90', '365', '730'];

type Opened = { dialog: 'create' } | { dialog: 'rotate' | 'revoke'; token: ServiceToken };

/** The service tokens of a courier. A secret is shown once, when it is made. */
export function TokensPage() {
  const tokens = useLoad(
    async (signal) => (await api().couriers.listServiceTokens({ limit: SHOWN }, { signal })).data,
    [],
  );
  const [opened, setOpened] = useState<Opened>();
  const [secret, setSecret] = useState<string>();
  const wanted = useWanted(['token'], linkTo('tokens'));
  const close = () => {
    setOpened(undefined);
    wanted.close();
  };
  const onDone = (made: string | null) => {
    close();
    setSecret(made ?? undefined);
    tokens.reload();
  };
  return (
    <>
      <Heading title={t('tokens.title')}>
        <button type="button" class="primary" onClick={single(() => setOpened({ dialog: 'create' }))}>
          {t('tokens.new')}
        </button>
      </Heading>
      <PageTabs of="developers" />
      <p class="muted">{t('tokens.hint')}</p>
      <Content of={tokens}>
        {(data) =>
          data.length === 0 ? (
            <Empty title={t('tokens.none')}>{t('tokens.noneHint')}</Empty>
          ) : (
            <TokenTable rows={data} onOpen={setOpened} />
          )
        }
      </Content>
      {(opened?.dialog === 'create' || wanted.opened) && <CreateDialog onClose={close} onDone={onDone} />}
      {opened && opened.dialog !== 'create' && (
        <EndDialog dialog={opened.dialog} token={opened.token} onClose={close} onDone={onDone} />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

type TokenTableProps = { rows: ServiceToken[]; onOpen: (opened: Opened) => void };

const TokenTable = ({ rows, onOpen }: TokenTableProps) => (
  <Table
    caption={t('tokens.title')}
    rows={rows}
    keyOf={({ token_id }) => token_id}
    columns={[
      { title: t('tokens.name'), cell: ({ name }) => name },
      {
        title: t('tokens.scopes'),
        cell: ({ scopes }) => scopes.map((scope) => textOf('scope', scope)).join(', '),
      },
      {
        title: t('tokens.ending'),
        cell: ({ hint, previous_hint, previous_ends_at }) => (
          <>
            <span class="mono">…{hint}</span>
            {previous_hint && previous_ends_at && (
              <p class="muted">
                {t('tokens.previous', { hint: previous_hint, at: dateTime(previous_ends_at) })}
              </p>
            )}
          </>
        ),
      },
      {
        title: t('tokens.lastUsed'),
        cell: ({ last_used_at }) => (last_used_at ? dateTime(last_used_at) : t('tokens.never')),
      },
      { title: t('tokens.expires'), isExtra: true, cell: ({ expires_at }) => dateTime(expires_at) },
      {
        title: t('manifests.change'),
        cell: (token) => (
          <>
            {(['rotate', 'revoke'] as const).map((dialog) => (
              <button
                key={dialog}
                type="button"
                class="quiet"
                onClick={single(() => onOpen({ dialog, token }))}
              >
                {textOf('tokenAction', dialog)}
                <span class="unseen"> {token.name}</span>
              </button>
            ))}
          </>
        ),
      },
    ]}
  />
);

/** `made` is a new secret, or null if the action made none. */
type DialogProps = { onClose: () => void; onDone: (made: string | null) => void };

function CreateDialog({ onClose, onDone }: DialogProps) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('365');
  const [scopes, setScopes] = useState<ServiceTokenScope[]>([]);
  const [password, setPassword] = useState('');
  const create = useAction(async () => {
    const fields = { name: name.trim(), scopes, expires_in_days: Number(days), current_password: password };
    onDone((await api().couriers.manageServiceTokens({ action: 'create', ...fields })).data.token);
  });
  return (
    <Dialog title={t('tokens.new')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.run();
        }}
      >
        <Field
          label={t('tokens.name')}
          value={name}
          onValue={setName}
          hint={t('tokens.nameHint')}
          maxLength={100}
        />
        <fieldset class="stack">
          <legend>{t('tokens.scopes')}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} class="check">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={({ currentTarget: { checked } }) =>
                  setScopes((chosen) => [
                    ...chosen.filter((each) => each !== scope),
                    ...(checked ? [scope] : []),
                  ])
                }
              />
              {textOf('scope', scope)}
            </label>
          ))}
        </fieldset>
        <Choice
          label={t('tokens.expires')}
          value={days}
          onValue={setDays}
          options={DAYS.map((count) => [count, t('tokens.days', { count })])}
        />
        <PasswordField value={password} onValue={setPassword} />
        <Problem text={create.error} />
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={create.isBusy || name.trim() === '' || scopes.length === 0 || password === ''}
          >
            {t('tokens.create')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type PasswordFieldProps = { value: string; onValue: (value: string) => void };

/** A new secret outlives the session, so the service asks for the password again. */
const PasswordField = ({ value, onValue }: PasswordFieldProps) => (
  <Field
    label={t('login.password')}
    type="password"
    value={value}
    onValue={onValue}
    hint={t('tokens.passwordHint')}
    autocomplete="current-password"
  />
);

type EndProps = DialogProps & { dialog: 'rotate' | 'revoke'; token: ServiceToken };

/** Asks before the present secret ends: a day after a rotation, or at once. */
function EndDialog({ dialog, token, onClose, onDone }: EndProps) {
  const [password, setPassword] = useState('');
  const end = useAction(async () => {
    const { token_id } = token;
    const { data } = await api().couriers.manageServiceTokens(
      dialog === 'rotate'
        ? { action: 'rotate', token_id, current_password: password }
        : { action: 'revoke', token_id },
    );
    onDone(data.token);
  });
  return (
    <Dialog title={`${textOf('tokenAction', dialog)}: ${token.name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          end.run();
        }}
      >
        <p>{textOf('tokenAsk', dialog)}</p>
        {dialog === 'rotate' && <PasswordField value={password} onValue={setPassword} />}
        <Problem text={end.error} />
        <div class="actions">
          <button
            type="submit"
            class={dialog === 'revoke' ? 'danger' : 'primary'}
            disabled={end.isBusy || (dialog === 'rotate' && password === '')}
          >
            {textOf('tokenAction', dialog)}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** It closes by its button only: the secret is not shown again. */
const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Dialog title={t('tokens.secret')}>
    <div class="stack">
      <p class="mono break" data-testid="token-secret">
        {secret}
      </p>
      <p>{t('tokens.secretHint')}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          {t('tokens.stored')}
        </button>
      </div>
    </div>
  </Dialog>
);
