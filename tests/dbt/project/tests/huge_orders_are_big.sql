select * from {{ ref('huge_orders') }} where amount < 100
