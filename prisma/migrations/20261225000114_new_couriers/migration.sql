-- upgrade: rolling
-- reviewed: constraint principal_quotas.principal_quotas_kind_is_known_check added: it accepts all that the one that it replaces accepts.
-- Quotas of the whole staff of a tenant (`staff`), such as that of new couriers.
alter table principal_quotas drop constraint principal_quotas_principal_kind_check;
alter table principal_quotas add constraint principal_quotas_kind_is_known_check
  check (principal_kind in ('courier', 'user', 'staff')) not valid;
