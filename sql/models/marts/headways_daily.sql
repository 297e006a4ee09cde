{{ config(materialized='view') }}
-- One row per operator, service_date, line and direction that is frequent somewhere: the waits, bunched headways and
-- gaps at its stops in its frequent hours, estimated for all buses due, with 95 % intervals. Stops and hours in which
-- too few trips were observed do not take part; where none does, or with too wide an interval, an estimate is null,
-- with the reason.
{{ waits_over('service_date', 'service_date', ['line_code', 'direction'], 'line_variance', n_dates=1) }}
