import { signal } from '@preact/signals';
import type { UserAction } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { fieldFailuresOf } from '../../ui/failure.js';
import { Form, Text, useForm } from '../../ui/form.js';

type Managed = Awaited<ReturnType<typeof send>>;
type Asked = {
  action: UserAction;
  /** Ends the question: with the response, or without one if the person gives up. */
  end: (managed: Managed | undefined) => void;
};

/** The action that waits for the password of the person. */
const asked = signal<Asked | undefined>(undefined);

const send = (action: UserAction) => api().users.manage(action);

/**
 * Changes a user. If the login is too old for the action, the person confirms it with the own password. The page shows `PasswordQuestion`.
 */
export async function manageUser(action: UserAction): Promise<Managed> {
  try {
    return await send(action);
  } catch (error) {
    if (!('current_password' in fieldFailuresOf(error))) throw error;
  }
  const managed = await new Promise<Managed | undefined>((end) => {
    asked.value = { action, end };
  });
  if (!managed) throw new Error(t('team.notConfirmed'));
  return managed;
}

/** Asks for the password, over the dialog of the action. */
export const PasswordQuestion = () => asked.value && <Question of={asked.value} />;

function Question({ of: { action, end } }: { of: Asked }) {
  const close = (managed?: Managed) => {
    asked.value = undefined;
    end(managed);
  };
  const form = useForm(
    { current_password: '' },
    // Only actions that take a password are asked for it.
    async ({ current_password }) => close(await send({ ...action, current_password } as UserAction)),
    { fieldOf: { password_wrong: 'current_password' } },
  );
  return (
    <FormDialog title={t('team.confirm')} onClose={() => close()}>
      <p>{t('team.confirmWhy')}</p>
      <Form of={form} submit={t('team.confirmAction')}>
        <Text of={form} name="current_password" label={t('team.ownPassword')} type="password" isRequired />
      </Form>
    </FormDialog>
  );
}
