-- Whether requests of the period went to an emulator in a rehearsal, and when the last answer came.
select
    count_if("window" like '%-rehearsal') as n_rehearsed,
    count(*) as n_requests,
    max(received_at) as last_received_at
from core.requests
where service_date between $first and $last
