-- upgrade: rolling
-- reviewed: constraint couriers.couriers_package_formats_allowed_check added: it accepts all that the one that it replaces accepts.
-- Webhook URLs that receive flat packages as arrays of one object. A worker of the previous release sends such a URL the object alone,
-- which its receiver refuses, and the delivery is retried.
alter table couriers drop constraint couriers_package_formats_check;
alter table couriers add constraint couriers_package_formats_allowed_check
  check (add_package_format in ('event', 'flat', 'flat_array') and update_package_format in ('event', 'flat', 'flat_array')) not valid;
