import { useState } from 'preact/hooks';
import type { ServiceToken, ServiceTokenScope } from '../../../../sdk/typescript/src/index.js';
import { RowActions, SecretEnding } from '../../courier/ui/secret-rows.js';
import { single } from '../../device/single.js';
import { api } from '../../session/session.js';
import { dateTime, t, textOf } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Choice, Content, Dialog, Empty, Field, Problem, Table } from '../../ui/parts.js';

/** An owner has at most 20 active ones. */
const SHOWN = 50;
const SCOPES = [
  'packages:read',
  'prealerts:write',
  'customers:write',
  'webhooks:manage',
  'bills:read',
] as const satisfies ServiceTokenScope[];
/** Those of the staff alone are last. */
const SCOPES_OF_STAFF = [...SCOPES, 'intake:write', 'manifests:write'] as const satisfies ServiceTokenScope[];
const DAYS = ['30', '90', '365', '730'];

type Opened = { dialog: 'create' } | { dialog: 'rotate' | 'revoke'; token: ServiceToken };

/** The tokens of the user's courier, of a courier, or of the staff. */
type TokenOwner = 'own' | 'staff' | { courierId: string };

type ListProps = {
  of: TokenOwner;
  /** Whether the address asks for a new token. */
  isNew?: boolean;
  /** Called when a dialog closes. */
  onClose?: () => void;
};

const fieldsOf = (owner: TokenOwner): { courier_id?: string } =>
  typeof owner === 'object' ? { courier_id: owner.courierId } : {};

/** The service tokens of an owner. A secret is shown once, when it is made. */
export function TokenList({ of: owner, isNew = false, onClose }: ListProps) {
  const tokens = useLoad(
    async (signal) =>
      (await api().couriers.listServiceTokens({ limit: SHOWN, ...fieldsOf(owner) }, { signal })).data,
    [JSON.stringify(owner)],
  );
  const [opened, setOpened] = useState<Opened>();
  const [secret, setSecret] = useState<string>();
  const close = () => {
    setOpened(undefined);
    onClose?.();
  };
  const onDone = (made: string | null) => {
    close();
    setSecret(made ?? undefined);
    tokens.reload();
  };
  return (
    <>
      <p class="muted">{hintOf(owner)}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={single(() => setOpened({ dialog: 'create' }))}>
          {t('tokens.new')}
        </button>
      </div>
      <Content of={tokens}>
        {(data) =>
          data.length === 0 ? (
            <Empty title={t('tokens.none')}>{t('tokens.noneHint')}</Empty>
          ) : (
            <TokenTable rows={data} onOpen={setOpened} />
          )
        }
      </Content>
      {(opened?.dialog === 'create' || isNew) && (
        <CreateDialog owner={owner} onClose={close} onDone={onDone} />
      )}
      {opened && opened.dialog !== 'create' && (
        <EndDialog dialog={opened.dialog} token={opened.token} onClose={close} onDone={onDone} />
      )}
      {secret !== undefined && (
        <SecretDialog
          secret={secret}
          hint={t(typeof owner === 'object' ? 'tokens.handOver' : 'tokens.secretHint')}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

function hintOf(owner: TokenOwner): string {
  if (owner === 'own') return t('tokens.hint');
  return t(owner === 'staff' ? 'tokens.staffHint' : 'tokens.courierHint');
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
        cell: SecretEnding,
      },
      {
        title: t('tokens.lastUsed'),
        cell: ({ last_used_at }) => (last_used_at ? dateTime(last_used_at) : t('tokens.never')),
      },
      { title: t('tokens.expires'), isExtra: true, cell: ({ expires_at }) => dateTime(expires_at) },
      {
        title: t('manifests.change'),
        cell: (token) => (
          <RowActions
            actions={['rotate', 'revoke'] as const}
            texts="tokenAction"
            name={token.name}
            onOpen={(dialog) => onOpen({ dialog, token })}
          />
        ),
      },
    ]}
  />
);

/** `made` is a new secret, or null if the action made none. */
type DialogProps = { onClose: () => void; onDone: (made: string | null) => void };

function CreateDialog({ owner, onClose, onDone }: DialogProps & { owner: TokenOwner }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('365');
  const [scopes, setScopes] = useState<ServiceTokenScope[]>([]);
  const [password, setPassword] = useState('');
  const create = useAction(async () => {
    const fields = { name: name.trim(), scopes, expires_in_days: Number(days), current_password: password };
    const action = { action: 'create' as const, ...fieldsOf(owner), ...fields };
    onDone((await api().couriers.manageServiceTokens(action)).data.token);
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
          {(owner === 'staff' ? SCOPES_OF_STAFF : SCOPES).map((scope) => (
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
const SecretDialog = ({ secret, hint, onClose }: { secret: string; hint: string; onClose: () => void }) => (
  <Dialog title={t('tokens.secret')}>
    <div class="stack">
      <p class="mono break" data-testid="token-secret">
        {secret}
      </p>
      <p>{hint}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          {t('tokens.stored')}
        </button>
      </div>
    </div>
  </Dialog>
);
