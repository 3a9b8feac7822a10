select * from {{ ref('stg_payments') }} where paid <= 0
