-- upgrade: rolling
-- reviewed: constraint write_allowances.write_allowances_kind_is_known_check added: it accepts all that the one that it replaces accepts.
-- What the whole staff of a tenant has written (`staff`), and how many secrets a user has replaced (`user_secrets`).
alter table write_allowances drop constraint write_allowances_principal_kind_check;
alter table write_allowances add constraint write_allowances_kind_is_known_check
  check (principal_kind in ('courier', 'user', 'staff', 'user_secrets')) not valid;
