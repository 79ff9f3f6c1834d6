type Props = { of: { user_code?: string | null; courier_name?: string | null } };

/** Whose parcel it is. Narrow screens show the customer's code alone. */
export const Owner = ({ of: { user_code, courier_name } }: Props) => (
  <>
    {user_code && <span class="nowrap">{user_code}</span>}
    {courier_name && (
      <span class={user_code ? 'extra nowrap' : 'nowrap'}>
        {user_code && ' · '}
        {courier_name}
      </span>
    )}
  </>
);

/** A courier's own customer. Narrow screens show the code alone. */
export const Customer = ({ code, names }: { code: string; names: (string | null | undefined)[] }) => (
  <>
    <span class="nowrap">{code}</span> <span class="extra nowrap">{names.filter(Boolean).join(' ')}</span>
  </>
);
