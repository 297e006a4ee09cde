{{ config(severity='error', meta={'checks': 'logic'}) }}
select count(*) as n_rows
from {{ ref('inference_parameters') }}
having count(*) != 1
