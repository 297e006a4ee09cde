{{ config(materialized='view') }}
-- One row per operator, service_date, line and horizon bucket: errors of live predictions, and their changes from one
-- listing to the next. An error is positive where the bus came later than predicted. Only predictions of evidenced
-- passages are judged; the share within the band has a 95 % interval.
{{ predictions_over('service_date', 'service_date', ['line_code']) }}
